/** Colour theme: light, dark or system, stored in the browser. */

import { fill, h } from './dom.js';

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
  fill(button, SYMBOLS[theme], h('small', null, theme === 'system' ? 'auto' : theme));
  button.setAttribute('aria-label', `Colours: ${theme === 'system' ? 'auto' : theme}`);
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
