/** The hint of a practice game, in a line: the best move so far, then the recommended one. */

import { getAdvice } from './api.js';
import { withSuitSymbols } from './cards.js';
import { h } from './dom.js';

const FIRST_DEALS = '8'; // a first answer while the whole one is awaited

export class Hint {
  /**
   * @param {AbortSignal} signal
   * @param {(error: any) => void} onerror
   */
  constructor(signal, onerror) {
    this.signal = signal;
    this.onerror = onerror;
    this.line = h('p.hint', { role: 'status' });
    this.requestId = 0;
  }

  /** Remove the hint, also one that is still awaited. */
  clear() {
    this.requestId += 1;
    this.line.textContent = '';
  }

  /** @param {string} table its id */
  async ask(table) {
    this.requestId += 1;
    const requestId = this.requestId;
    this.line.textContent = 'Playing each move out on a few deals …';
    try {
      const first = await getAdvice(table, { deals: FIRST_DEALS }, this.signal);
      if (requestId !== this.requestId) return;
      this.line.textContent = `Best so far, on ${first.deals} deals: ${withSuitSymbols(first.verdict.recommended.text)}. Playing on more deals …`;
      const { agent, verdict } = await getAdvice(table, {}, this.signal);
      if (requestId === this.requestId) this.line.textContent = `${agent.title} advises: ${withSuitSymbols(verdict.recommended.text)}`;
    } catch (error) {
      if (requestId !== this.requestId) return;
      this.line.textContent = '';
      this.onerror(error);
    }
  }
}
