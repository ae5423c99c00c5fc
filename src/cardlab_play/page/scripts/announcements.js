/** Announcements for screen readers. */

/** @param {string} text */
export function announce(text) {
  append('polite', text);
}

/**
 * @param {string} region
 * @param {string} text
 */
function append(region, text) {
  const line = document.createElement('p');
  line.textContent = text;
  const live = /** @type {HTMLElement} */ (document.getElementById(region));
  live.append(line);
  while (live.childElementCount > 3) live.firstElementChild?.remove();
}
