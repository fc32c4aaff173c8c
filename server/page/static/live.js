// @ts-check
// The events of the workspace. One tab of a browser, the holder of a lock, reads them and
// passes them to the other tabs, because a browser opens few connections to a server.

import { decoder } from './sse.js';

/**
 * An event, as docs/json.md describes it.
 * @typedef {{seq: number | null, type: string, session_id: string | null, message_id: string | null, parent_id: string | null,
 *   role?: string, replaces?: string, agent?: string, text?: string, offset?: number, state?: string, ended?: string, error?: string, label?: string,
 *   verb: string, external: boolean}} Event
 */

/** @typedef {'connecting' | 'online' | 'reconnecting' | 'signed-out'} State */

/**
 * What tabs pass to each other. A tab that opens says hello; the one with the connection
 * answers with its state and the id of the last operation that it has seen.
 * @typedef {{what: 'frame', frame: import('./sse.js').Frame} | {what: 'state', state: State, at: string} | {what: 'hello'}} Note
 */

/**
 * What the page does: with the events of an operation or a chunk of a reply, with a state,
 * and when events were missed.
 * @typedef {{events(list: Event[]): void, state(state: State): void, missed(): void, reset(): void}} Reader
 */

const retryAfter = 1000;
const slowest = 8000;

/** Returns the number in an id LOG-SEQ. @param {string} id */
export function seqOf(id) {
  return Number(id.slice(id.indexOf('-') + 1)) || 0;
}

/** Returns the log in an id LOG-SEQ. @param {string} id */
function logOf(id) {
  return id.slice(0, Math.max(id.indexOf('-'), 0));
}

export class Live {
  /** @type {Event[]} */
  #operation = []; // of which not all events have arrived
  /** @type {State} */
  #state = 'connecting';
  #leads = false;
  #wake = () => {};
  #stop = new AbortController();
  /** @type {BroadcastChannel | null} */
  #channel = null;

  /**
   * @param {string} at the id of the last operation that the page shows
   * @param {number} heartbeat how often the server sends something, in milliseconds
   * @param {Reader} reader
   */
  constructor(at, heartbeat, reader) {
    this.at = at;
    this.heartbeat = heartbeat;
    this.reader = reader;
  }

  start() {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    if (!navigator.locks) { // an insecure origin: this tab has a connection of its own
      this.#lead(signal);
      return;
    }
    this.#channel = new BroadcastChannel('bough');
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    this.#pass({ what: 'hello' });
    navigator.locks.request('bough-events', { signal }, () => this.#lead(signal)).catch(() => {}); // it was stopped before it led
  }

  stop() {
    this.#stop.abort();
    this.#channel?.close();
    this.#channel = null;
  }

  /** @param {Note} note */
  #pass(note) {
    this.#channel?.postMessage(note);
  }

  /** @param {Note} note */
  #hear(note) {
    switch (note.what) {
      case 'hello':
        if (!this.#leads) return;
        this.#pass({ what: 'state', state: this.#state, at: this.at });
        this.#wake();
        break;
      case 'state':
        this.#show(note.state);
        if (note.state === 'online' && note.at) this.#meet(note.at);
        break;
      case 'frame':
        this.#take(note.frame);
    }
  }

  /** Continues at the id of the tab that reads, and asks for what was missed. @param {string} at */
  #meet(at) {
    if (logOf(at) === logOf(this.at) && seqOf(at) <= seqOf(this.at)) return;
    this.at = at;
    this.#operation = [];
    this.reader.missed();
  }

  /** @param {State} state */
  #show(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.reader.state(state);
  }

  /** Shows a state here and in the other tabs. @param {State} state */
  #tell(state) {
    this.#show(state);
    this.#pass({ what: 'state', state, at: state === 'online' ? this.at : '' });
  }

  /** @param {import('./sse.js').Frame} frame */
  #take({ name, data, id }) {
    if (name === 'ready' || name === 'reset') {
      this.#operation = [];
      if (name === 'reset') this.reader.reset();
      this.at = id;
      return;
    }
    /** @type {Event} */
    const event = JSON.parse(data);
    if (event.seq === null) {
      this.reader.events([event]);
      return;
    }
    if (event.seq <= seqOf(this.at)) return; // a page that has just been rendered shows it
    this.#operation.push(event);
    if (!id) return;
    const events = this.#operation;
    this.#operation = [];
    this.at = id;
    this.reader.events(events);
  }

  /** Reads events until it is stopped. @param {AbortSignal} signal */
  async #lead(signal) {
    this.#leads = true;
    for (let wait = retryAfter; !signal.aborted; wait = Math.min(2 * wait, slowest)) {
      const status = await this.#read(signal, () => { wait = retryAfter; });
      if (signal.aborted) break;
      if (status === 401 || status === 403) {
        this.#tell('signed-out');
        break;
      }
      this.#tell('reconnecting');
      await new Promise((resolve) => {
        this.#wake = () => resolve(undefined);
        setTimeout(resolve, wait);
      });
    }
    this.#leads = false;
  }

  /**
   * Reads events until the connection ends, or until two heartbeats are missing, and returns
   * the status of the answer, 0 if there was none.
   * @param {AbortSignal} signal
   * @param {() => void} connected
   */
  async #read(signal, connected) {
    const silence = new AbortController();
    let alarm = 0;
    const heard = () => {
      clearTimeout(alarm);
      alarm = setTimeout(() => silence.abort(), 2.5 * this.heartbeat);
    };
    let status = 0;
    try {
      heard();
      /** @type {HeadersInit} */
      const headers = this.at ? { 'Last-Event-ID': this.at } : {};
      const answer = await fetch('/events', { headers, cache: 'no-store', mode: 'same-origin', signal: AbortSignal.any([signal, silence.signal]) });
      status = answer.status;
      if (!answer.ok || !answer.body) return status;
      const decode = decoder();
      this.#operation = [];
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let r = await reader.read(); !r.done; r = await reader.read()) {
        heard();
        connected();
        for (const frame of decode(r.value)) {
          this.#take(frame);
          this.#pass({ what: 'frame', frame });
          if (frame.name === 'ready') this.#tell('online');
        }
      }
    } catch {
      // The connection was lost.
    } finally {
      clearTimeout(alarm);
    }
    return status;
  }
}
