// @ts-check
// What changes something: forms are sent without leaving the page, the status line says what
// was done, and offers to undo it. What a user types is kept until the server has it.

import * as feeds from './feed.js';
import * as menus from './menus.js';
import { say, sayNext, undoable } from './status.js';

/** @typedef {import('./status.js').Said} Said */

/** Verbs whose result takes the place of what is shown. */
const leads = ['branch', 'compare', 'pick', 'edit', 'merge', 'replay', 'replay/cancel', 'prune-context', 'restore', 'rewind', 'rewind/files', 'rewind/both', 'files/turn/undo', 'new', 'import', 'agent/create', 'agent/branch', 'explore',
  'explore/adopt/files', 'sync', 'sync/cancel', 'pull', 'push', 'ls/remote'];

const draftPrefix = 'bough.draft:';

/** What the server refused. */
class Refused extends Error {}

/**
 * Calls a verb.
 * @param {string} action the path
 * @param {URLSearchParams} fields
 * @returns {Promise<Said>}
 */
async function post(action, fields) {
  const answer = await fetch(action, { method: 'POST', mode: 'same-origin', body: fields, headers: { Accept: 'application/json' } });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const { message = `The server answers ${answer.status} ${answer.statusText}`, hint } = body.error ?? {};
    throw new Refused(hint ? `${message}; ${hint}` : message);
  }
  return body;
}

/** Returns the verb of an action. @param {string} action */
function verbOf(action) {
  return new URL(action, location.href).pathname.replace(/^\/do\//, '');
}

/** Reports whether the page leaves for the result of a verb. @param {string} verb @param {string | null | undefined} to */
function leavesFor(verb, to) {
  if (!to) return false;
  if (leads.includes(verb)) return true;
  const sameView = new URL(to, location.href).pathname === location.pathname;
  return ['append', 'rm'].includes(verb) && !sameView;
}

/** Leaves for a place, and says there what was done. @param {Said} done @param {string} to */
function leave(done, to) {
  sayNext(done);
  const url = new URL(to, location.href);
  if (url.pathname + url.search !== location.pathname + location.search) {
    location.assign(url);
    return;
  }
  history.replaceState(null, '', url); // another anchor alone would not read the page again
  location.reload();
}

/** Shows the result of a verb. @param {string} verb @param {Said} done */
function show(verb, done) {
  if (verb === 'undo' || verb === 'redo') leave(done, done.to ?? location.href);
  else if (leavesFor(verb, done.to)) leave(done, done.to ?? '/');
  else say(done);
}

/** @param {unknown} e */
function explain(e) {
  if (e instanceof Refused) return e.message;
  return 'The server does not answer. What you wrote is kept.';
}

/** @param {HTMLFormElement} form @param {HTMLElement | null} button */
function fieldsOf(form, button) {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form, button)) fields.append(name, String(value));
  if (!fields.has('back')) fields.set('back', location.pathname + location.search);
  return fields;
}

/** Sends a form. @param {HTMLFormElement} form @param {HTMLElement | null} button */
async function send(form, button) {
  if (form.getAttribute('aria-busy') === 'true') return;
  const action = button?.getAttribute('formaction') ?? form.getAttribute('action') ?? '';
  form.setAttribute('aria-busy', 'true');
  try {
    const done = await post(action, fieldsOf(form, button));
    const menu = form.closest('details');
    if (menu) menu.open = false;
    show(verbOf(action), done);
  } catch (e) {
    say({ said: explain(e) });
  } finally {
    form.removeAttribute('aria-busy');
  }
}

/** Ends when the messages that were written before are sent. */
let written = Promise.resolve();

/**
 * Sends the message of the composer. Its text makes room for the next message at once; each
 * message is sent when the one before it was, and as a reply to it. A message that begins a
 * conversation is the only one until it is answered.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} button
 * @param {string} [mode] the verb, if that of the form is another one
 */
function write(form, button, mode) {
  const text = textOf(form);
  if (!text || !form.reportValidity()) return;
  const follows = form.dataset.agent || form.querySelector('input[name="parent_id"]');
  if (!follows && form.getAttribute('aria-busy') === 'true') return; // the answer leads to another conversation
  const { value } = text;
  const action = mode ? `/do/${mode}` : button?.getAttribute('formaction') ?? form.getAttribute('action') ?? '';
  text.value = '';
  feeds.follow();
  form.setAttribute('aria-busy', 'true');
  const sent = written.then(async () => {
    const fields = fieldsOf(form, button);
    fields.set(text.name, value);
    try {
      const done = await post(action, fields);
      keepDraft(text);
      replyTo(form, done);
      show(verbOf(action), done);
    } catch (e) {
      text.value = [value, text.value].filter(Boolean).join('\n');
      keepDraft(text);
      say({ said: explain(e) });
    }
  });
  written = sent;
  sent.then(() => { if (written === sent) form.removeAttribute('aria-busy'); });
}

/** Makes the next message a reply to the one that was sent. @param {HTMLFormElement} form @param {Said} done */
function replyTo(form, { to }) {
  const leaf = to && new URL(to, location.href).searchParams.get('leaf');
  const parent = form.querySelector('input[name="parent_id"]');
  if (leaf && parent instanceof HTMLInputElement) parent.value = leaf;
}

/** Undoes the change that the status line names. If it names none, the server says which would be undone. */
export async function undo() {
  await change('undo');
}

export async function redo() {
  await change('redo');
}

/** @param {'undo' | 'redo'} verb */
async function change(verb) {
  const fields = new URLSearchParams();
  const seq = undoable();
  if (verb === 'undo' && seq !== null) fields.set('seq', `${seq}`);
  fields.set('back', location.pathname + location.search);
  try {
    const done = await post(`/do/${verb}`, fields);
    if (verb === 'undo' && seq === null) say(done);
    else show(verb, done);
  } catch (e) {
    say({ said: explain(e) });
  }
}

/** Returns the text of the composer. @param {HTMLFormElement} form */
function textOf(form) {
  return form.querySelector('textarea');
}

/** Returns the name under which a text is kept. @param {HTMLTextAreaElement} text */
function draftOf(text) {
  return `${draftPrefix}${location.pathname}#${text.form?.id}.${text.name}`;
}

/** Keeps what is typed and not sent. @param {HTMLTextAreaElement} text */
function keepDraft(text) {
  if (text.value) sessionStorage.setItem(draftOf(text), text.value);
  else sessionStorage.removeItem(draftOf(text));
}

/** Shows what was typed and not sent. */
export function restoreDrafts() {
  for (const text of document.querySelectorAll('textarea')) {
    const draft = sessionStorage.getItem(draftOf(text));
    if (draft && !text.value) text.value = draft;
  }
}

/**
 * Enter sends a message, Alt+Enter queues it as a follow-up for an agent, and Shift+Enter
 * begins a line. The server knows whether the agent runs: if not, it answers at once.
 * @param {KeyboardEvent} e
 */
function onEnter(e) {
  if (e.key !== 'Enter' || e.isComposing || e.shiftKey || !(e.target instanceof HTMLTextAreaElement)) return;
  const form = e.target.form;
  if (form?.id !== 'composer') return;
  e.preventDefault();
  if (e.altKey && form.dataset.agent) {
    write(form, null, 'follow-up');
    return;
  }
  const button = form.querySelector('button:not([disabled], [type="button"])');
  if (button instanceof HTMLButtonElement) form.requestSubmit(button);
}

/** Copies text. @param {string} text @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say({ said: `Copied ${what}` });
  } catch {
    say({ said: 'The browser does not allow to copy' });
  }
}

/** Copies the text of a message. @param {Element} message */
export async function copyText(message) {
  const parts = [...message.querySelectorAll('.text')].map((e) => /** @type {HTMLElement} */ (e).innerText.trim());
  await copy(parts.filter(Boolean).join('\n\n'), 'the text of the message');
}

/**
 * Does what a form of a message does: sends it, or opens it if it has something to fill in.
 * @param {Element} within @param {string} act
 */
export function use(within, act) {
  menus.restore(within);
  const form = within.querySelector(`form[data-act="${act}"]`);
  if (!(form instanceof HTMLFormElement)) {
    say({ said: `${act === 'continue' ? 'Continue' : act[0].toUpperCase() + act.slice(1)} is not possible here` });
    return;
  }
  const field = form.querySelector('input:not([type="hidden"]), textarea');
  if (field instanceof HTMLElement) {
    const menu = form.closest('details');
    if (menu) menu.open = true;
    field.focus();
    return;
  }
  const button = form.querySelector('button');
  if (button?.disabled) say({ said: reasonOf(button) });
  else form.requestSubmit(button);
}

/** Returns why a button is disabled. @param {Element} button */
function reasonOf(button) {
  const id = button.getAttribute('aria-describedby');
  return (id && document.getElementById(id)?.textContent?.trim()) || 'This is not possible';
}

/** Closes the menus that are open, except for one, and returns the last one. @param {Element | null} [except] */
function closeMenus(except) {
  let last = null;
  for (const menu of document.querySelectorAll('details.more[open]')) {
    if (menu === except) continue;
    /** @type {HTMLDetailsElement} */ (menu).open = false;
    last = menu;
  }
  return last;
}

/** Opens a menu upwards if there is no room below it. @param {Event} e */
function onToggle({ target }) {
  if (!(target instanceof HTMLDetailsElement) || !target.matches('.more')) return;
  target.classList.remove('up');
  const { bottom = 0, height = 0 } = target.lastElementChild?.getBoundingClientRect() ?? {};
  target.classList.toggle('up', target.open && bottom > innerHeight && target.getBoundingClientRect().top > height);
}

/** Escape closes a menu, and returns the focus to what opened it. @param {KeyboardEvent} e */
function onEscape(e) {
  if (e.key !== 'Escape' || e.isComposing) return;
  const summary = closeMenus()?.querySelector('summary');
  if (summary instanceof HTMLElement) summary.focus();
}

export function start() {
  document.addEventListener('toggle', onToggle, true);
  document.addEventListener('keydown', onEscape);
  document.addEventListener('pointerdown', ({ target }) => closeMenus(target instanceof Element ? target.closest('details.more') : null));
  document.addEventListener('submit', (e) => {
    const form = e.target;
    if (!(form instanceof HTMLFormElement) || e.defaultPrevented || form.method !== 'post') return;
    const action = e.submitter?.getAttribute('formaction') ?? form.getAttribute('action') ?? '';
    if (!action.startsWith('/do/')) return;
    e.preventDefault();
    if (form.id === 'composer') write(form, e.submitter);
    else send(form, e.submitter);
  });
  document.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLTextAreaElement) keepDraft(target);
  });
  document.addEventListener('keydown', onEnter);
  document.addEventListener('click', (e) => {
    const control = e.target instanceof Element ? e.target.closest('a[data-act], button[data-act]') : null;
    const message = control?.closest('article');
    switch (control?.getAttribute('data-act')) {
      case 'undo':
        e.preventDefault();
        undo();
        break;
      case 'link':
        e.preventDefault();
        copy(/** @type {HTMLAnchorElement} */ (control).href, 'the link');
        break;
      case 'copy':
        if (!message) return;
        e.preventDefault();
        copyText(message);
    }
  });
  restoreDrafts();
}
