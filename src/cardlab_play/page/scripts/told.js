/** What happened, latest first: whole lines as far as there is room, and a sign where there are more below. */

import { h } from './dom.js';

const KEPT = 100; // lines

export class Told {
  constructor() {
    this.list = h('ol.told', { 'aria-label': 'What happened, latest first', tabindex: '0', onscroll: () => this.hint() });
    this.root = h('div.told-of', null, this.list);
    this.width = 0;
    new ResizeObserver(() => {
      if (this.width === this.root.clientWidth) return; // only the sign below has come or gone
      this.width = this.root.clientWidth;
      this.fit();
    }).observe(this.root);
  }

  /** @param {string} sentence */
  add(sentence) {
    this.list.prepend(h('li', null, sentence));
    while (this.list.childElementCount > KEPT) this.list.lastElementChild?.remove();
    this.list.scrollTop = 0;
    this.fit();
  }

  /** As high as whole lines allow below the style sheet's limit, but with the latest one whole in any case. */
  fit() {
    const { list } = this;
    const at = list.scrollTop;
    list.style.maxBlockSize = '';
    const room = list.clientHeight;
    const top = list.getBoundingClientRect().top - list.scrollTop;
    const ends = [...list.children].map((line) => line.getBoundingClientRect().bottom - top);
    const whole = ends.filter((end, i) => i === 0 || end <= room + 1).at(-1);
    if (whole) list.style.maxBlockSize = `${Math.ceil(whole)}px`;
    list.scrollTop = at;
    this.hint();
  }

  hint() {
    const { list } = this;
    this.root.classList.toggle('more', list.scrollHeight - list.scrollTop - list.clientHeight > 4);
  }
}
