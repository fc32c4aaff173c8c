// @ts-check
// HTML for the page. The only policy of trusted types turns text into HTML, and only text
// that this server sent as HTML.

/** The texts that were received and not yet parsed. @type {Set<string>} */
const received = new Set();

const rules = {
  /** @param {string} text */
  createHTML(text) {
    if (!received.delete(text)) throw new TypeError('This HTML is not from the server');
    return text;
  },
};

const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('bough', rules) ?? rules;

/** An answer other than success. */
export class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * Returns the HTML of a view or a piece of one, without the layout.
 * @param {string | URL} path
 * @returns {Promise<DocumentFragment>}
 */
export async function piece(path) {
  const answer = await fetch(path, { mode: 'same-origin', cache: 'no-store', headers: { 'Bough-Fragment': '1', Accept: 'text/html' } });
  if (!answer.ok) throw new Refusal(answer.status, `The server answers ${answer.status} ${answer.statusText}`);
  if (!answer.headers.get('Content-Type')?.startsWith('text/html')) throw new TypeError('The answer is not HTML');
  const text = await answer.text();
  received.add(text);
  const template = document.createElement('template');
  template.innerHTML = policy.createHTML(text);
  return template.content;
}
