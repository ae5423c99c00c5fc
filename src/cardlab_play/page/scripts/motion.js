/** Cards that lie elsewhere after a move glide there; who asked for less motion sees them there at once. */

const GLIDE = 260; // ms
const PAUSE = 500; // ms between the moves of others, so that each can be followed
const LONGEST = 3000; // ms for all of them together
const STILL = 120; // ms between them without motion

/** Whether motion is welcome. */
function welcome() {
  return !window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** The time that the moves of others are given, until somebody is in a hurry. */
export class Pace {
  constructor() {
    this.wait = 0;
    this.hurry = () => {};
  }

  /** @param {number} moves */
  start(moves) {
    this.wait = Math.min(welcome() ? PAUSE : STILL, LONGEST / Math.max(1, moves));
  }

  /** @returns {Promise<void>} */
  pause() {
    return new Promise((done) => {
      const timer = setTimeout(done, this.wait);
      this.hurry = () => {
        this.wait = 0;
        clearTimeout(timer);
        done();
      };
    });
  }
}

/**
 * @param {HTMLElement} root
 * @returns {Map<string, DOMRect>} where each card lies
 */
function places(root) {
  const found = new Map();
  for (const card of root.querySelectorAll('[data-card]')) {
    found.set(card.getAttribute('data-card'), card.getBoundingClientRect());
  }
  return found;
}

/**
 * Draw anew, then let every card come from where it lay; a new one comes from a seat, if one is named.
 * @param {HTMLElement} root
 * @param {() => void} draw
 * @param {string} [origin] the `data-seat`
 */
export function glide(root, draw, origin) {
  const before = places(root);
  const source = origin === undefined ? undefined : root.querySelector(`[data-seat="${origin}"]`)?.getBoundingClientRect();
  draw();
  if (!welcome() || before.size === 0) return;
  for (const card of root.querySelectorAll('[data-card]')) {
    const from = before.get(card.getAttribute('data-card') ?? '') ?? source;
    const to = card.getBoundingClientRect();
    if (from && to.width > 0) move(card, from, to);
  }
}

/**
 * @param {Element} card
 * @param {DOMRect} from
 * @param {DOMRect} to
 */
function move(card, from, to) {
  const dx = from.left + from.width / 2 - to.left - to.width / 2;
  const dy = from.top + from.height / 2 - to.top - to.height / 2;
  if (Math.abs(dx) + Math.abs(dy) < 3) return;
  const scale = Math.min(1, from.width / to.width);
  card.animate([{ transform: `translate(${dx}px, ${dy}px) scale(${scale})` }, { transform: 'none' }], {
    duration: GLIDE,
    easing: 'cubic-bezier(.2, .7, .3, 1)',
  });
}
