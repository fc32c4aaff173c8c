// @ts-check
// The tree at the left: the keys of a tree view, filters, and a subtree on its own.

import { piece } from './html.js';
import { isKey } from './keys.js';
import { morph } from './morph.js';
import { say } from './status.js';

/** How long typed characters belong together, in milliseconds. */
const typing = 700;

/** How long the page waits for another character before it reads the tree, in milliseconds. */
const pause = 150;

let waiting = 0;

const kept = 'bough.tree'; // in sessionStorage: which rows the user opened and folded

let typed = '';
let typedAt = 0;

/** @returns {HTMLElement | null} */
function aside() {
  return document.getElementById('tree');
}

/** @returns {HTMLElement | null} */
function tree() {
  return aside()?.querySelector('[role="tree"]') ?? null;
}

/** Returns the rows that can be seen. @returns {HTMLElement[]} */
function rows() {
  const all = /** @type {NodeListOf<HTMLElement> | undefined} */ (tree()?.querySelectorAll('[role="treeitem"]'));
  return [...(all ?? [])].filter((e) => e.getClientRects().length > 0);
}

/** @param {HTMLElement} row */
function levelOf(row) {
  return Number(row.getAttribute('aria-level')) || 1;
}

/** Returns the title of a row. @param {HTMLElement} row */
function textOf(row) {
  return ((row.querySelector('.name') ?? row).textContent ?? '').trim().toLowerCase();
}

/** Returns the row that has the focus, or is the one for it. */
export function current() {
  const focused = document.activeElement?.closest('[role="treeitem"]');
  return focused instanceof HTMLElement ? focused : rows().find((r) => r.tabIndex === 0) ?? rows()[0] ?? null;
}

/** Reports whether the tree has the focus. */
export function hasFocus() {
  return Boolean(document.activeElement?.closest('#tree [role="tree"]'));
}

/** @param {HTMLElement | null | undefined} row */
export function focus(row = current()) {
  if (!row) return;
  aside()?.closest('details')?.setAttribute('open', '');
  for (const other of tree()?.querySelectorAll('[role="treeitem"][tabindex="0"]') ?? []) /** @type {HTMLElement} */ (other).tabIndex = -1;
  row.tabIndex = 0;
  row.focus();
  row.scrollIntoView({ block: 'nearest' });
}

/** Moves the focus by some rows. @param {number} by */
export function move(by) {
  const list = rows();
  const at = list.indexOf(/** @type {HTMLElement} */ (current()));
  focus(list[Math.min(Math.max(at + by, 0), list.length - 1)]);
}

/** Returns the row above a row. @param {HTMLElement} row */
function parentOf(row) {
  const outer = row.parentElement?.closest('[role="treeitem"]');
  if (outer instanceof HTMLElement) return outer;
  const list = rows();
  return list.slice(0, list.indexOf(row)).reverse().find((r) => levelOf(r) < levelOf(row)) ?? null;
}

/** Returns the ids of the rows that the user opened, and of those that the user folded. */
function choices() {
  /** @type {{open: string[], folded: string[]}} */
  const { open, folded } = JSON.parse(sessionStorage.getItem(kept) ?? '{"open":[],"folded":[]}');
  return { open: new Set(open), folded: new Set(folded) };
}

/** Shows or hides what is below a row. @param {HTMLElement} row @param {boolean} open */
async function expand(row, open) {
  const { id } = row.dataset;
  if (id) {
    const sets = choices();
    (open ? sets.open : sets.folded).add(id);
    (open ? sets.folded : sets.open).delete(id);
    sessionStorage.setItem(kept, JSON.stringify({ open: [...sets.open], folded: [...sets.folded] }));
  }
  if (open && !groupOf(row)) await refresh();
  else mark(row, open);
}

/** Returns the rows below a row. @param {Element} row @returns {HTMLElement | null} */
function groupOf(row) {
  return row.querySelector('[role="group"]');
}

/** @param {Element} row @param {boolean} open */
function mark(row, open) {
  row.setAttribute('aria-expanded', `${open}`);
  const group = groupOf(row);
  if (group) group.hidden = !open;
  const sign = row.querySelector('.twist');
  if (sign) sign.textContent = open ? '▾' : '▸';
}

/** Folds the rows that the user folded, after the server has sent the tree. */
function recall() {
  for (const id of choices().folded) {
    const row = tree()?.querySelector(`[aria-expanded="true"][data-id="${CSS.escape(id)}"]`);
    if (row && !groupOf(row)?.querySelector('[aria-selected="true"]')) mark(row, false);
  }
}

/** Folds the current row, or goes to the one above it. */
export function fold() {
  const row = current();
  if (!row) return;
  if (row.getAttribute('aria-expanded') === 'true') expand(row, false);
  else focus(parentOf(row));
}

/** Unfolds the current row, goes to the first one below it, or opens it if there is none. */
export async function unfold() {
  const row = current();
  if (!row) return;
  const expanded = row.getAttribute('aria-expanded');
  if (expanded === 'false') {
    await expand(row, true);
    return;
  }
  const list = rows();
  const next = list[list.indexOf(row) + 1];
  if (expanded === 'true' && next && levelOf(next) > levelOf(row)) focus(next);
  else if (!expanded) row.querySelector('a')?.click();
}

/** Unfolds the rows at the level of a row. @param {HTMLElement} row */
async function expandSiblings(row) {
  const list = rows().filter((r) => levelOf(r) === levelOf(row) && parentOf(r) === parentOf(row));
  for (const r of list) if (r.getAttribute('aria-expanded') === 'false') await expand(r, true);
}

/** Goes to the next row that begins with what is typed. @param {string} key */
function typeahead(key) {
  const now = performance.now();
  typed = now - typedAt < typing ? typed + key.toLowerCase() : key.toLowerCase();
  typedAt = now;
  const list = rows();
  const at = list.indexOf(/** @type {HTMLElement} */ (current()));
  const from = typed.length === 1 ? at + 1 : at;
  const to = [...list.slice(from), ...list.slice(0, from)].find((r) => textOf(r).startsWith(typed));
  if (to) focus(to);
}

/** @param {KeyboardEvent} e */
function onKey(e) {
  const row = e.target instanceof HTMLElement ? e.target.closest('[role="treeitem"]') : null;
  if (!(row instanceof HTMLElement) || e.target !== row || e.ctrlKey || e.metaKey || e.altKey) return;
  switch (e.key) {
    case 'ArrowDown': move(1); break;
    case 'ArrowUp': move(-1); break;
    case 'ArrowRight': unfold().catch(complain); break;
    case 'ArrowLeft': fold(); break;
    case 'Home': focus(rows()[0]); break;
    case 'End': focus(rows().at(-1)); break;
    case '*': expandSiblings(row).catch(complain); break;
    case 'Enter': row.querySelector('a')?.click(); break;
    case ' ': row.querySelector('a')?.click(); break;
    default:
      if (e.key.length !== 1 || isKey(e.key)) return;
      typeahead(e.key);
  }
  e.preventDefault();
}

/** Toggles a row by its sign. @param {MouseEvent} e */
function onClick(e) {
  const sign = e.target instanceof Element ? e.target.closest('.twist') : null;
  const row = sign?.closest('[role="treeitem"]');
  const expanded = row?.getAttribute('aria-expanded');
  if (!(row instanceof HTMLElement) || !expanded) return;
  e.preventDefault();
  expand(row, expanded === 'false').catch(complain);
}

/** Returns the form of the filters. @returns {HTMLFormElement | null} */
function filters() {
  return aside()?.querySelector('form.filters') ?? null;
}

/** Goes to the filters. */
export function filter() {
  aside()?.closest('details')?.setAttribute('open', '');
  const field = filters()?.querySelector('input:not([type="hidden"])');
  if (field instanceof HTMLElement) field.focus();
}

/** Returns the query for the tree. */
function query() {
  const form = filters();
  const chosen = form ? new FormData(form) : new FormData();
  const fields = new URLSearchParams();
  for (const name of ['text', 'filter']) {
    const value = chosen.get(name);
    if (value) fields.set(name, String(value));
  }
  const root = new URLSearchParams(location.search).get('root');
  if (root) fields.set('root', root);
  const open = [...choices().open];
  if (open.length) fields.set('open', open.join(','));
  const session = document.getElementById('feed')?.dataset.session;
  if (session) fields.set('session', session);
  return fields;
}

let reading = 0;

/** Reads the tree again. */
export async function refresh() {
  const at = aside();
  if (!at) return;
  const turn = ++reading;
  const next = await piece(`/piece/tree?${query()}`);
  if (turn !== reading) return; // a later one is on its way
  const form = filters();
  if (form) next.querySelector('form.filters')?.replaceWith(form.cloneNode(true)); // its address is that of this page
  morph(at, next);
  recall();
}

/** @param {unknown} e */
function complain(e) {
  say({ said: `The tree cannot be read: ${/** @type {Error} */ (e).message}` });
}

export function start() {
  const at = aside();
  if (!at) return;
  recall();
  at.addEventListener('keydown', onKey);
  at.addEventListener('click', onClick);
  at.addEventListener('input', ({ target }) => {
    if (!(target instanceof Element) || target.closest('form') !== filters()) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => refresh().catch(complain), pause);
  });
  at.addEventListener('submit', (e) => {
    if (e.target === filters()) e.preventDefault();
  });
  if ([...choices().open].some((id) => at.querySelector(`[aria-expanded="false"][data-id="${CSS.escape(id)}"]`))) refresh().catch(complain);
}
