/**
 * Arrow keys between the things that can be chosen, by where they stand on the screen.
 *
 * Only one choice of a group is a tab stop, as in a grid or a toolbar; the rest is reached
 * by arrows, Home and End. A view that is drawn anew keeps the focus on what has the same `data-key`.
 */

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const CHOICES = 'button:enabled, [role="button"]';

/** @param {HTMLElement} group */
function choicesOf(group) {
  return /** @type {HTMLElement[]} */ ([...group.querySelectorAll(CHOICES)]).filter((choice) => choice.offsetParent !== null);
}

/**
 * One tab stop: what has the focus, else the first choice.
 * @param {HTMLElement} group
 */
export function keepStop(group) {
  const choices = choicesOf(group);
  const stop = choices.find((choice) => choice === document.activeElement) ?? choices.find((choice) => choice.tabIndex === 0) ?? choices[0];
  for (const choice of choices) choice.tabIndex = choice === stop ? 0 : -1;
}

/** @param {HTMLElement} group */
export function enableArrows(group) {
  group.addEventListener('focusin', () => keepStop(group));
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
  const choices = choicesOf(group);
  if (key === 'Home') return choices[0];
  if (key === 'End') return choices.at(-1);
  const direction = DIRECTIONS[key];
  const here = document.activeElement;
  if (!direction || !here || !group.contains(here)) return undefined;
  if (here === group) return choices[0];
  return nearest(here, choices, direction);
}

/**
 * The choice that lies least far in a direction, what lies aside counting double.
 * @param {Element} here
 * @param {HTMLElement[]} choices
 * @param {number[]} direction
 */
function nearest(here, choices, [dx, dy]) {
  const [x, y] = centre(here);
  let best;
  let least = Infinity;
  for (const choice of choices) {
    const [cx, cy] = centre(choice);
    const ahead = (cx - x) * dx + (cy - y) * dy;
    const aside = Math.abs((cx - x) * dy) + Math.abs((cy - y) * dx);
    if (choice === here || ahead < 2 || aside > 2 * ahead + 40) continue;
    if (ahead + 2 * aside < least) {
      least = ahead + 2 * aside;
      best = choice;
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
 * Draw anew and leave the focus where it was; where that is gone, it goes to the first choice, else to `root`, which
 * hands it on as soon as there is a choice again.
 * @param {HTMLElement} root
 * @param {() => void} draw
 */
export function keepFocus(root, draw) {
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.getAttribute('data-key') ?? root.dataset.focused;
  draw();
  if (!focused || (focused !== root && document.contains(focused))) return;
  const same = key ? root.querySelector(`[data-key="${CSS.escape(key)}"]:not(:disabled)`) : null;
  const target = /** @type {HTMLElement} */ (same ?? choicesOf(root)[0] ?? root);
  if (target === root && key) root.dataset.focused = key;
  else delete root.dataset.focused;
  target.focus({ preventScroll: true });
}
