/** Log of events, latest first. Shows whole lines only, with a marker when there are more. */

import { fill, h } from './dom.js';

const MAX_LINES = 100;

export class EventLog {
  constructor() {
    this.list = h('ol.event-log', { 'aria-label': 'Events, latest first', tabindex: '0', onscroll: () => this.updateOverflow() });
    this.root = h('div.event-log-frame', null, this.list);
    this.width = 0;
    new ResizeObserver(() => {
      if (this.width === this.root.clientWidth) return; // only the overflow marker has changed
      this.width = this.root.clientWidth;
      this.fitHeight();
    }).observe(this.root);
  }

  clear() {
    fill(this.list);
  }

  /** @param {string} sentence */
  add(sentence) {
    this.list.prepend(h('li', null, sentence));
    while (this.list.childElementCount > MAX_LINES) this.list.lastElementChild?.remove();
    this.list.scrollTop = 0;
    this.fitHeight();
  }

  /** Set the height to whole lines within the limit of the style sheet, at least one. */
  fitHeight() {
    const { list } = this;
    const at = list.scrollTop;
    list.style.maxBlockSize = '';
    const room = list.clientHeight;
    const top = list.getBoundingClientRect().top - list.scrollTop;
    const ends = [...list.children].map((line) => line.getBoundingClientRect().bottom - top);
    const whole = ends.filter((end, i) => i === 0 || end <= room + 1).at(-1);
    if (whole) list.style.maxBlockSize = `${Math.ceil(whole)}px`;
    list.scrollTop = at;
    this.updateOverflow();
  }

  updateOverflow() {
    const { list } = this;
    this.root.classList.toggle('more', list.scrollHeight - list.scrollTop - list.clientHeight > 4);
  }
}
