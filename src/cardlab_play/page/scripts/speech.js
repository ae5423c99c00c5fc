/** What happens, told to screen readers; sighted players read it beside the table. */

/** @param {string} text */
export function tell(text) {
  say('polite', text);
}

/** @param {string} text something that cannot wait */
export function warn(text) {
  say('assertive', text);
}

/**
 * @param {string} region
 * @param {string} text
 */
function say(region, text) {
  const line = document.createElement('p');
  line.textContent = text;
  const live = /** @type {HTMLElement} */ (document.getElementById(region));
  live.append(line);
  while (live.childElementCount > 3) live.firstElementChild?.remove();
}
