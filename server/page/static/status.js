// @ts-check
// The status line, which says what was done, with a button to undo it.

const kept = 'bough.said';

/**
 * What was said. undo is the number of the operation to undo, and to is where its result is.
 * @typedef {{said: string, undo?: number | null, to?: string | null}} Said
 */

/** The last one. @type {Said} */
let last = { said: '' };

/** Says text in the status line. @param {Said} what */
export function say(what) {
  last = what;
  const line = document.getElementById('status');
  if (!line) return;
  line.replaceChildren(what.said);
  if (what.to && !here(what.to)) line.append(' ', link(what.to));
  if (what.undo != null) line.append(' ', undoButton());
}

/** Says text when the next page is shown. @param {Said} what */
export function sayNext(what) {
  sessionStorage.setItem(kept, JSON.stringify(what));
}

/** Says what the page before this one left. */
export function sayKept() {
  const text = sessionStorage.getItem(kept);
  if (!text) return;
  sessionStorage.removeItem(kept);
  say(JSON.parse(text));
}

/** Returns the operation that the status line offers to undo. */
export function undoable() {
  const field = document.querySelector('#status input[name="seq"]'); // of the server's form
  return field instanceof HTMLInputElement ? Number(field.value) : last.undo ?? null;
}

/** Reports whether the status line is empty. */
export function isSilent() {
  return !document.getElementById('status')?.textContent?.trim();
}

/** @param {string} path */
function here(path) {
  return new URL(path, location.href).pathname === location.pathname;
}

/** @param {string} path */
function link(path) {
  const a = document.createElement('a');
  a.href = path;
  a.textContent = 'Open';
  return a;
}

function undoButton() {
  const button = document.createElement('button');
  button.type = 'button';
  button.dataset.act = 'undo';
  button.textContent = 'Undo';
  button.setAttribute('aria-keyshortcuts', 'u');
  return button;
}
