/** Light, dark, or as the system has it; kept in this browser. */

const KEY = 'cardlab.theme';
const THEMES = ['system', 'light', 'dark'];
const SIGNS = { system: '◐', light: '☀', dark: '☾' };

/** @param {HTMLButtonElement} button */
export function offerThemes(button) {
  show(button, remembered());
  button.addEventListener('click', () => {
    const theme = THEMES[(THEMES.indexOf(remembered()) + 1) % THEMES.length];
    remember(theme);
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
  button.textContent = SIGNS[theme];
  button.setAttribute('aria-label', `Colours: ${theme}`);
  button.title = `Colours: ${theme}`;
}

function remembered() {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system'; // a browser that keeps nothing
  }
}

/** @param {string} theme */
function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then it holds until the page is closed
  }
}
