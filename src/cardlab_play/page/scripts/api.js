/** The server's endpoints. A lost connection is told and tried again; a refusal is an error in the server's words. */

/** @typedef {import('./types.js').Table} Table */

const RETRY_FIRST = 500; // ms; each further wait is twice as long
const RETRY_LONGEST = 8000;

/** A reply of the server that says no. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string | null} key the field that is wrong
   */
  constructor(status, message, key) {
    super(message);
    this.status = status;
    this.key = key;
  }
}

/** @type {(lost: boolean) => void} */
let tellConnection = () => {};

/** @param {(lost: boolean) => void} listener */
export function watchConnection(listener) {
  tellConnection = listener;
}

/**
 * @param {string} path behind /api/
 * @param {{method?: string, body?: any, signal?: AbortSignal, again?: boolean, lost?: () => void}} [options] again: whether asking twice does no harm;
 *   lost: told when a reply did not come
 * @returns {Promise<any>}
 */
async function ask(path, { method = 'GET', body, signal, again = method === 'GET', lost } = {}) {
  const request = {
    method,
    signal,
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
  for (let wait = RETRY_FIRST; ; wait = Math.min(2 * wait, RETRY_LONGEST)) {
    try {
      const reply = await fetch(`api/${path}`, request);
      tellConnection(false);
      return await read(reply);
    } catch (error) {
      if (error instanceof Refusal || signal?.aborted) throw error;
      tellConnection(true);
      lost?.();
      if (!again) throw new Error('The server cannot be reached. Try again in a moment.');
      await rest(wait, signal);
    }
  }
}

/**
 * @param {Response} reply
 * @returns {Promise<any>}
 */
async function read(reply) {
  const said = await reply.json().catch(() => null);
  if (reply.ok) return said;
  const words = said?.error ?? `The server answered ${reply.status} ${reply.statusText}.`;
  const later = reply.headers.get('Retry-After');
  throw new Refusal(reply.status, later ? `${words} Try again in ${later} s.` : words, said?.key ?? null);
}

/**
 * @param {number} wait ms
 * @param {AbortSignal} [signal]
 */
function rest(wait, signal) {
  return new Promise((done, stop) => {
    const timer = setTimeout(done, wait);
    window.addEventListener('online', done, { once: true });
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      stop(signal.reason);
    });
  });
}

/** @param {Record<string, string | null | undefined>} values those that are empty are left out */
function query(values) {
  const given = Object.entries(values).filter(([, value]) => value);
  return given.length > 0 ? `?${new URLSearchParams(/** @type {[string, string][]} */ (given))}` : '';
}

/** @param {AbortSignal} signal */
export const getChoices = (signal) => ask('choices', { signal });

/** @param {AbortSignal} signal */
export const getSession = (signal) => ask('session', { signal });

/** @param {string} name */
export const putName = (name) => ask('session', { method: 'PUT', body: { name }, again: true });

/** @param {AbortSignal} signal */
export const getTables = (signal) => ask('tables', { signal });

/** @param {AbortSignal} signal */
export const getDaily = (signal) => ask('daily', { signal });

/**
 * @param {string} game
 * @param {AbortSignal} signal
 */
export const getLeaderboard = (game, signal) => ask(`leaderboard${query({ game })}`, { signal });

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 */
export const getDeal = (id, signal) => ask(`deals/${encodeURIComponent(id)}`, { signal });

/**
 * @param {Record<string, any>} wishes
 * @returns {Promise<Table>}
 */
export const openTable = (wishes) => ask('tables', { method: 'POST', body: wishes });

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Table>}
 */
export const getTable = (id, signal) => ask(`tables/${encodeURIComponent(id)}`, { signal });

/**
 * What happened so far, without the tables.
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<{events: import('./types.js').GameEvent[]}>}
 */
export const getHistory = (id, signal) => ask(`tables/${encodeURIComponent(id)}/history`, { signal });

/**
 * Play `action`; the table as it is now where it has moved on: `stale` if that was not by this move.
 * @param {Table} table
 * @param {number} action
 * @param {AbortSignal} signal
 * @returns {Promise<Table>}
 */
export const playMove = (table, action, signal) => act(table, 'moves', { action, number: table.number }, signal);

/**
 * @param {Table} table
 * @param {AbortSignal} signal
 * @returns {Promise<Table>}
 */
export const resign = (table, signal) => act(table, 'resignation', { number: table.number }, signal);

/**
 * @param {Table} table
 * @param {string} what
 * @param {any} body
 * @param {AbortSignal} signal
 * @returns {Promise<Table>}
 */
async function act(table, what, body, signal) {
  const path = `tables/${encodeURIComponent(table.id)}`;
  let stale = true; // unless a reply was lost: then the move may have been made
  try {
    return await ask(`${path}/${what}`, { method: 'POST', body, signal, again: true, lost: () => { stale = false; } });
  } catch (error) {
    if (error instanceof Refusal && error.status === 409) return { ...(await getTable(table.id, signal)), stale };
    throw error;
  }
}

/**
 * @param {string} id
 * @param {{agent?: string | null, search?: string | null}} judge
 * @param {AbortSignal} signal
 * @returns {Promise<import('./types.js').Advice>}
 */
export const getAdvice = (id, judge, signal) => ask(`tables/${encodeURIComponent(id)}/advice${query(judge)}`, { signal });

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<import('./types.js').Replay>}
 */
export const getReplay = (id, signal) => ask(`tables/${encodeURIComponent(id)}/replay`, { signal });
