/**
 * Arrow-key navigation between buttons by their position on the screen.
 *
 * A group has one tab stop (roving tabindex); arrow keys, Home and End reach the other buttons. A redraw keeps the
 * focus on the element with the same `data-key`.
 */

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const CHOICES = 'button[data-key]:enabled';

/** @param {HTMLElement} group */
function focusableIn(group) {
  return /** @type {HTMLElement[]} */ ([...group.querySelectorAll(CHOICES)]).filter((candidate) => candidate.offsetParent !== null);
}

/**
 * Make the focused button the tab stop, else the first button.
 * @param {HTMLElement} group
 */
export function updateTabStop(group) {
  const candidates = focusableIn(group);
  const stop = candidates.find((candidate) => candidate === document.activeElement) ?? candidates.find((candidate) => candidate.tabIndex === 0) ?? candidates[0];
  for (const candidate of candidates) candidate.tabIndex = candidate === stop ? 0 : -1;
}

/** @param {HTMLElement} group */
export function enableArrowKeys(group) {
  group.addEventListener('focusin', () => updateTabStop(group));
  group.addEventListener('keydown', (event) => {
    const target = next(group, event.key);
    if (!target) return;
    event.preventDefault();
    target.focus();
  });
}

/**
 * @param {HTMLElement} group
 * @param {string} key
 * @returns {HTMLElement | undefined}
 */
function next(group, key) {
  const candidates = focusableIn(group);
  if (key === 'Home') return candidates[0];
  if (key === 'End') return candidates.at(-1);
  const direction = DIRECTIONS[key];
  const focused = document.activeElement;
  if (!direction || !focused || !group.contains(focused)) return undefined;
  if (focused === group) return candidates[0];
  return nearest(focused, candidates, direction);
}

/**
 * The nearest button in a direction. Sideways distance counts double.
 * @param {Element} focused
 * @param {HTMLElement[]} candidates
 * @param {number[]} direction
 */
function nearest(focused, candidates, [dx, dy]) {
  const [x, y] = centre(focused);
  let best;
  let smallest = Infinity;
  for (const candidate of candidates) {
    const [cx, cy] = centre(candidate);
    const ahead = (cx - x) * dx + (cy - y) * dy;
    const aside = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
    if (candidate === focused || ahead < 2 || aside > 2 * ahead + 40) continue;
    if (ahead + 2 * aside < smallest) {
      smallest = ahead + 2 * aside;
      best = candidate;
    }
  }
  return best;
}

/** @param {Element} element */
function centre(element) {
  const box = element.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
}

/**
 * Redraw and keep the focus. If its element is gone, focus the first button, else `root` until there is a button.
 * @param {HTMLElement} root
 * @param {() => void} draw
 */
export function redrawWithFocus(root, draw) {
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.getAttribute('data-key') ?? root.dataset.focused;
  draw();
  if (!focused || (focused !== root && document.contains(focused))) return;
  const match = key ? root.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`) : null;
  const target = /** @type {HTMLElement} */ (match ?? focusableIn(root)[0] ?? root);
  if (target === root && key) root.dataset.focused = key;
  else delete root.dataset.focused;
  target.focus({ preventScroll: true });
}
