// @ts-check
// A decoder of server-sent events. EventSource does not tell its caller of heartbeats, which
// are comments.

/** @typedef {{name: string, data: string, id: string}} Frame */

/**
 * Returns a function that takes text as it arrives and returns the events that it completes.
 * @returns {(text: string) => Frame[]}
 */
export function decoder() {
  let rest = '';
  let name = '';
  /** @type {string[]} */
  let data = [];
  let id = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    /** @type {Frame[]} */
    const frames = [];
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) frames.push({ name, data: data.join('\n'), id });
        [name, data, id] = ['', [], ''];
        continue;
      }
      const colon = line.indexOf(':');
      if (colon === 0) continue;
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'event') name = value;
      else if (field === 'data') data.push(value);
      else if (field === 'id') id = value;
    }
    return frames;
  };
}
