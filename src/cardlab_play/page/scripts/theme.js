/** Colour theme: light, dark or system, stored in the browser. */

const KEY = 'cardlab.theme';
const THEMES = ['system', 'light', 'dark'];
const SYMBOLS = { system: '◐', light: '☀', dark: '☾' };

/** @param {HTMLButtonElement} button */
export function setUpThemeButton(button) {
  show(button, loadLast());
  button.addEventListener('click', () => {
    const theme = THEMES[(THEMES.indexOf(loadLast()) + 1) % THEMES.length];
    saveLast(theme);
    show(button, theme);
  });
}

/**
 * @param {HTMLButtonElement} button
 * @param {string} theme
 */
function show(button, theme) {
  const root = document.documentElement;
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  button.textContent = SYMBOLS[theme];
  button.setAttribute('aria-label', `Colours: ${theme}`);
  button.title = `Colours: ${theme}`;
}

function loadLast() {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system'; // storage is disabled
  }
}

/** @param {string} theme */
function saveLast(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // storage is disabled: the theme lasts until the page closes
  }
}
