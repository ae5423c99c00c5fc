/** Client of the server's API. Requests retry after connection failures; error responses raise ApiError. */

/** @typedef {import('./types.js').Table} Table */

const FIRST_RETRY_MS = 500; // doubles with each retry
const MAX_RETRY_MS = 8000;

/** An error response of the server. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {string | null} key the invalid field
   */
  constructor(status, message, key) {
    super(message);
    this.status = status;
    this.key = key;
  }
}

/** @type {(lost: boolean) => void} */
let onConnectionChange = () => {};

/** @param {(lost: boolean) => void} listener */
export function setConnectionListener(listener) {
  onConnectionChange = listener;
}

/**
 * @param {string} path path below /api/
 * @param {{method?: string, body?: any, signal?: AbortSignal, retry?: boolean, lost?: () => void}} [options] retry: whether the request is safe to repeat;
 *   lost: called when a response is lost
 * @returns {Promise<any>}
 */
async function request(path, { method = 'GET', body, signal, retry = method === 'GET', lost } = {}) {
  const init = {
    method,
    signal,
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
  for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, MAX_RETRY_MS)) {
    try {
      const reply = await fetch(`api/${path}`, init);
      onConnectionChange(false);
      return await read(reply);
    } catch (error) {
      if (error instanceof ApiError || signal?.aborted) throw error;
      onConnectionChange(true);
      lost?.();
      if (!retry) throw new Error('The server is not reachable. Try again in a moment.');
      await delay(wait, signal);
    }
  }
}

/**
 * @param {Response} reply
 * @returns {Promise<any>}
 */
async function read(reply) {
  const message = await reply.json().catch(() => null);
  if (reply.ok) return message;
  const text = message?.error ?? `The server returned ${reply.status} ${reply.statusText}.`;
  const later = reply.headers.get('Retry-After');
  throw new ApiError(reply.status, later ? `${text} Try again in ${later} s.` : text, message?.key ?? null);
}

/**
 * @param {number} wait ms
 * @param {AbortSignal} [signal]
 */
function delay(wait, signal) {
  return new Promise((done, stop) => {
    const timer = setTimeout(done, wait);
    window.addEventListener('online', done, { once: true });
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      stop(signal.reason);
    });
  });
}

/** @param {Record<string, string | null | undefined>} values empty ones are omitted */
function query(values) {
  const given = Object.entries(values).filter(([, value]) => value);
  return given.length > 0 ? `?${new URLSearchParams(/** @type {[string, string][]} */ (given))}` : '';
}

/** @param {AbortSignal} signal */
export const getGames = (signal) => request('games', { signal });

/** @param {AbortSignal} signal */
export const getSession = (signal) => request('session', { signal });

/** @param {string} name */
export const putName = (name) => request('session', { method: 'PUT', body: { name }, retry: true });

/** @param {AbortSignal} signal */
export const getTables = (signal) => request('tables', { signal });

/** @param {AbortSignal} signal */
export const getDaily = (signal) => request('daily', { signal });

/**
 * @param {string} game
 * @param {AbortSignal} signal
 */
export const getLeaderboard = (game, signal) => request(`leaderboard${query({ game })}`, { signal });

/**
 * @param {string} game
 * @param {AbortSignal} signal
 */
export const getRules = (game, signal) => request(`rules${query({ game })}`, { signal });

/** @param {AbortSignal} signal */
export const getRecord = (signal) => request('record', { signal });

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 */
export const getDeal = (id, signal) => request(`deals/${encodeURIComponent(id)}`, { signal });

/**
 * @param {Record<string, any>} tableRequest
 * @returns {Promise<Table>}
 */
export const openTable = (tableRequest) => request('tables', { method: 'POST', body: tableRequest });

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Table>}
 */
export const getTable = (id, signal) => request(`tables/${encodeURIComponent(id)}`, { signal });

/**
 * The last events of a table, without views.
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<{events: import('./types.js').GameEvent[]}>}
 */
export const getHistory = (id, signal) => request(`tables/${encodeURIComponent(id)}/history`, { signal });

/**
 * Play `action` and return the table. On a conflict: the current table, `stale` if this move was not played.
 * @param {Table} table
 * @param {number} action
 * @param {AbortSignal} signal
 * @returns {Promise<Table>}
 */
export const playMove = (table, action, signal) => postAction(table, 'moves', { action, number: table.number }, signal);

/**
 * @param {Table} table
 * @param {AbortSignal} signal
 * @returns {Promise<Table>}
 */
export const resign = (table, signal) => postAction(table, 'resignation', { number: table.number }, signal);

/**
 * Take back the player's last move.
 * @param {Table} table
 * @param {AbortSignal} signal
 * @returns {Promise<Table>}
 */
export const undo = (table, signal) => postAction(table, 'undo', { number: table.number }, signal);

/**
 * @param {Table} table
 * @param {string} endpoint
 * @param {any} body
 * @param {AbortSignal} signal
 * @returns {Promise<Table>}
 */
async function postAction(table, endpoint, body, signal) {
  const path = `tables/${encodeURIComponent(table.id)}`;
  let stale = true; // false after a lost response: the move may have been played
  try {
    return await request(`${path}/${endpoint}`, { method: 'POST', body, signal, retry: true, lost: () => { stale = false; } });
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return { ...(await getTable(table.id, signal)), stale };
    throw error;
  }
}

/**
 * @param {string} id
 * @param {{agent?: string | null, search?: string | null, deals?: string}} agentQuery
 * @param {AbortSignal} signal
 * @returns {Promise<import('./types.js').Advice>}
 */
export const getAdvice = (id, agentQuery, signal) => request(`tables/${encodeURIComponent(id)}/advice${query(agentQuery)}`, { signal });

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<import('./types.js').Replay>}
 */
export const getReplay = (id, signal) => request(`tables/${encodeURIComponent(id)}/replay`, { signal });
