/** Card animations between two views. Respects `prefers-reduced-motion`. */

const GLIDE_MS = 260;
const PAUSE_MS = 500; // between moves of other players
const MAX_TOTAL_MS = 3000; // for all moves together
const PAUSE_WITHOUT_MOTION_MS = 120; // with reduced motion

/** Whether the browser allows motion. */
function motionAllowed() {
  return !window.matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** Delay between the moves of other players. `skip` ends it. */
export class MoveDelay {
  constructor() {
    this.wait = 0;
    this.skip = () => {};
  }

  /** @param {number} moves */
  start(moves) {
    this.wait = Math.min(motionAllowed() ? PAUSE_MS : PAUSE_WITHOUT_MOTION_MS, MAX_TOTAL_MS / Math.max(1, moves));
  }

  /** @returns {Promise<void>} */
  pause() {
    return new Promise((done) => {
      const timer = setTimeout(done, this.wait);
      this.skip = () => {
        this.wait = 0;
        clearTimeout(timer);
        done();
      };
    });
  }
}

/**
 * @param {HTMLElement} root
 * @returns {Map<string, DOMRect>} position of each card
 */
function places(root) {
  const found = new Map();
  for (const card of root.querySelectorAll('[data-card]')) {
    found.set(card.getAttribute('data-card'), card.getBoundingClientRect());
  }
  return found;
}

/**
 * Redraw, then move each card from its old position. New cards start at the seat `origin`, if it is given.
 * @param {HTMLElement} root
 * @param {() => void} draw
 * @param {string} [origin] the `data-seat`
 */
export function animateCards(root, draw, origin) {
  const before = places(root);
  const source = origin === undefined ? undefined : root.querySelector(`[data-seat="${origin}"]`)?.getBoundingClientRect();
  draw();
  if (!motionAllowed() || before.size === 0) return;
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
    duration: GLIDE_MS,
    easing: 'cubic-bezier(.2, .7, .3, 1)',
  });
}
