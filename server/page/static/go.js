// @ts-check
// The dialog of Ctrl+K: goes to a session or a page of the workspace, or does what a key does.

import { act, keys } from './keys.js';

/** @typedef {{text: string, key?: string, run: () => void}} Choice */

const shown = 12;

/** Returns all that can be chosen. @returns {Choice[]} */
function choices() {
  /** @type {Choice[]} */
  const list = [];
  const seen = new Set();
  const links = [...document.querySelectorAll('#tree [role="treeitem"] a[href]'), ...document.querySelectorAll('body > header a[href]')];
  for (const a of links) {
    const { href } = /** @type {HTMLAnchorElement} */ (a);
    const text = ((a.querySelector('.name') ?? a).textContent ?? '').trim().replace(/\s+/g, ' ');
    if (!text || seen.has(href)) continue;
    seen.add(href);
    list.push({ text, run: () => location.assign(href) });
  }
  for (const { key, act: name, what } of keys()) if (name !== 'go') list.push({ text: what, key, run: () => { act(name); } });
  return list;
}

/** Returns the choices with all words of a text. @param {Choice[]} list @param {string} text */
function matching(list, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return list.filter((c) => words.every((w) => c.text.toLowerCase().includes(w)));
}

/** Returns the search for a text, the choice if nothing matches. @param {string} text @returns {Choice} */
function searchFor(text) {
  return { text: `Search for “${text}”`, run: () => location.assign(`/search?${new URLSearchParams({ q: text })}`) };
}

/** Opens the dialog. */
export function open() {
  const dialog = document.createElement('dialog');
  dialog.id = 'go';
  dialog.setAttribute('aria-label', 'Go to');
  const field = document.createElement('input');
  field.type = 'text';
  field.setAttribute('role', 'combobox');
  field.setAttribute('aria-label', 'Session, page or action');
  field.setAttribute('aria-controls', 'go-list');
  field.setAttribute('aria-expanded', 'true');
  field.setAttribute('aria-autocomplete', 'list');
  field.autocomplete = 'off';
  const box = document.createElement('ul');
  box.id = 'go-list';
  box.setAttribute('role', 'listbox');
  box.setAttribute('aria-label', 'Matches');
  dialog.append(field, box);
  const all = choices();
  /** @type {Choice[]} */
  let list = [];
  let at = 0;

  const draw = () => {
    const text = field.value.trim();
    list = matching(all, text).slice(0, shown);
    if (list.length === 0 && text) list = [searchFor(text)];
    at = Math.min(at, Math.max(list.length - 1, 0));
    box.replaceChildren(...list.map((c, i) => {
      const option = document.createElement('li');
      option.id = `go-${i}`;
      option.setAttribute('role', 'option');
      option.setAttribute('aria-selected', `${i === at}`);
      option.textContent = c.text;
      if (c.key) {
        const kbd = document.createElement('kbd');
        kbd.textContent = c.key;
        option.append(' ', kbd);
      }
      option.addEventListener('click', () => choose(c));
      return option;
    }));
    field.setAttribute('aria-activedescendant', `go-${at}`);
  };
  /** @param {Choice | undefined} c */
  const choose = (c) => {
    if (!c) return;
    dialog.close();
    c.run();
  };
  field.addEventListener('input', () => { at = 0; draw(); });
  field.addEventListener('keydown', (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) {
      at = (at + by + list.length) % Math.max(list.length, 1);
      draw();
    } else if (e.key === 'Enter' && !e.isComposing) {
      choose(list[at]);
    } else {
      return;
    }
    e.preventDefault();
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  draw();
  dialog.showModal();
  field.focus();
}
