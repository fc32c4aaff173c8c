// @ts-check
// The keys of the page. keys.json is the table of them, with those of the page in the terminal.

const off = 'bough.keys'; // in localStorage: "off" if single characters do nothing

/** @typedef {{key: string, act: string, what: string, terminal?: boolean}} Key */

/** @type {Key[]} */
let table = [];

/** @type {Map<string, () => unknown>} */
const acts = new Map();

/** Sets what an act of the table does. @param {string} act @param {() => unknown} does */
export function on(act, does) {
  acts.set(act, does);
}

/** Does what an act of the table does. @param {string} act */
export function act(act) {
  return acts.get(act)?.();
}

/** Returns the table. */
export function keys() {
  return table;
}

/** Reports whether a single character is a key of the page. @param {string} key */
export function isKey(key) {
  return !isOff() && table.some((k) => k.key === key);
}

function isOff() {
  return localStorage.getItem(off) === 'off';
}

/** Returns the key of an event as keys.json has it. @param {KeyboardEvent} e */
function nameOf(e) {
  if (e.altKey) return '';
  return e.ctrlKey || e.metaKey ? `Ctrl+${e.key.toUpperCase()}` : e.key;
}

/** Reports whether an element takes text. @param {EventTarget | null} e */
export function takesText(e) {
  if (!(e instanceof HTMLElement)) return false;
  if (e instanceof HTMLInputElement) return !['button', 'checkbox', 'radio', 'submit', 'reset'].includes(e.type);
  return e.isContentEditable || e.matches('textarea, select');
}

/** @param {KeyboardEvent} e */
function onKey(e) {
  if (e.defaultPrevented || e.isComposing) return;
  const name = nameOf(e);
  const key = table.find((k) => k.key === name);
  if (!key) return;
  const single = key.key.length === 1;
  if (single && (takesText(e.target) || isOff())) return;
  if (document.querySelector('dialog[open]') && key.act !== 'help' && key.act !== 'quit') return;
  e.preventDefault();
  act(key.act);
}

/** Writes the table to the dialog. @param {HTMLDialogElement} dialog */
function fillHelp(dialog) {
  const title = document.createElement('h2');
  title.id = 'help-title';
  title.textContent = 'Keys';
  dialog.setAttribute('aria-labelledby', title.id);
  const list = document.createElement('dl');
  for (const { key, what } of table) {
    const row = document.createElement('div');
    const term = document.createElement('dt');
    const kbd = document.createElement('kbd');
    const does = document.createElement('dd');
    kbd.textContent = key;
    term.append(kbd);
    does.textContent = what;
    row.append(term, does);
    list.append(row);
  }
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.id = 'single-keys';
  box.checked = !isOff();
  box.addEventListener('change', () => localStorage.setItem(off, box.checked ? 'on' : 'off'));
  label.append(box, ' Keys of a single character');
  const form = document.createElement('form');
  form.method = 'dialog';
  const close = document.createElement('button');
  close.textContent = 'Close';
  form.append(close);
  dialog.replaceChildren(title, list, label, form);
}

function toggleHelp() {
  const dialog = document.getElementById('help');
  if (!(dialog instanceof HTMLDialogElement)) return;
  if (dialog.open) {
    dialog.close();
    return;
  }
  fillHelp(dialog);
  dialog.showModal();
}

/** Adds a button for the keys to the header, because without single characters no key shows them. */
function addButton() {
  const button = document.createElement('button');
  button.type = 'button';
  button.id = 'keys';
  button.textContent = 'Keys';
  button.addEventListener('click', toggleHelp);
  document.querySelector('body > header')?.append(button);
}

/** Reads the table and begins to listen. */
export async function start() {
  on('help', toggleHelp);
  addButton();
  document.addEventListener('keydown', onKey);
  /** @type {Key[]} */
  const all = await (await fetch('/static/keys.json')).json();
  table = all.filter((k) => !k.terminal);
}
