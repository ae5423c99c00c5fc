/** The hint of a practice game: the recommended move, in a line. */

import { getAdvice } from './api.js';
import { withSuitSymbols } from './cards.js';
import { h } from './dom.js';

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
    this.line.textContent = 'Looking for a move …';
    try {
      const { agent, verdict } = await getAdvice(table, {}, this.signal);
      if (requestId === this.requestId) this.line.textContent = `${agent.title} advises: ${withSuitSymbols(verdict.recommended.text)}`;
    } catch (error) {
      if (requestId !== this.requestId) return;
      this.line.textContent = '';
      this.onerror(error);
    }
  }
}
