// @ts-check
// The page: which module does what for which key, and what happens when events arrive. Without
// this module the page works by its links and forms.

import * as act from './act.js';
import * as feeds from './feed.js';
import * as go from './go.js';
import * as highlight from './highlight.js';
import { piece, Refusal } from './html.js';
import * as keys from './keys.js';
import { Live } from './live.js';
import * as menus from './menus.js';
import { morph } from './morph.js';
import * as siblings from './siblings.js';
import { isSilent, say, sayKept } from './status.js';
import * as stream from './stream.js';
import * as tree from './tree.js';

/** @typedef {import('./live.js').Event} Event */

const marked = 'bough.compare'; // in sessionStorage: the first message to compare

/** How long events are collected before the page is read again, in milliseconds. */
const pause = 150;

const main = () => document.getElementById('main');

/** Folds or unfolds the parts of the current message. @param {boolean} open */
function foldMessage(open) {
  const parts = [...(feeds.current()?.querySelectorAll('details:not(.more)') ?? [])];
  for (const e of parts) /** @type {HTMLDetailsElement} */ (e).open = open;
  if (parts.length === 0 && !open) tree.focus();
}

/** @param {string} name */
function onMessage(name) {
  const message = feeds.current();
  if (message) act.use(message, name);
  else say({ said: 'There is no message here' });
}

/** Returns the link that compares the current row of the tree or message. */
function compareLink() {
  if (tree.hasFocus()) return tree.current()?.querySelector(':scope > .row [data-act="compare"]');
  const message = feeds.current();
  if (message) menus.restore(message);
  return message?.querySelector('[data-act="compare"]');
}

/** Marks the current message or row of the tree, and compares the marked one with the next one. */
function compare() {
  const link = compareLink();
  if (!(link instanceof HTMLAnchorElement)) return;
  const a = new URL(link.href).searchParams.get('a') ?? '';
  const first = sessionStorage.getItem(marked);
  if (!first || first === a) {
    sessionStorage.setItem(marked, a);
    say({ said: 'Marked. Press = at another message, or in the tree, to compare.' });
    return;
  }
  sessionStorage.removeItem(marked);
  location.assign(`/compare?${new URLSearchParams({ a: first, b: a })}`);
}

function remove() {
  const row = tree.hasFocus() ? tree.current() : null;
  act.use(row ?? main() ?? document.body, 'delete');
}

function quit() {
  const dialog = document.querySelector('dialog[open]');
  if (dialog instanceof HTMLDialogElement) dialog.close();
  else if (tree.hasFocus()) feeds.rove(feeds.current(), true);
  else if (history.length > 1) history.back();
  else location.assign('/');
}

/** @param {string} selector */
function focus(selector) {
  const e = document.querySelector(selector);
  if (e instanceof HTMLElement) e.focus();
  else say({ said: 'There is nothing to fill in here' });
}

function bindKeys() {
  const inTree = tree.hasFocus;
  keys.on('next', () => (inTree() ? tree.move(1) : feeds.move(1)));
  keys.on('previous', () => (inTree() ? tree.move(-1) : feeds.move(-1)));
  keys.on('fold', () => (inTree() ? tree.fold() : foldMessage(false)));
  keys.on('unfold', () => (inTree() ? tree.unfold() : foldMessage(true)));
  keys.on('previous-sibling', () => siblings.turn('prev'));
  keys.on('next-sibling', () => siblings.turn('next'));
  keys.on('previous-fork', () => feeds.moveToFork(-1));
  keys.on('next-fork', () => feeds.moveToFork(1));
  for (const name of ['branch', 'checkpoint', 'bookmark', 'continue']) keys.on(name, () => onMessage(name));
  keys.on('compare', compare);
  keys.on('undo', act.undo);
  keys.on('redo', act.redo);
  keys.on('search', () => focus('body > header input[name="q"]'));
  keys.on('filter', tree.filter);
  keys.on('tree', () => (inTree() ? feeds.rove(feeds.current(), true) : tree.focus()));
  keys.on('copy', () => { const m = feeds.current(); if (m) act.copyText(m); });
  keys.on('delete', remove);
  keys.on('write', () => focus('#composer textarea'));
  keys.on('go', go.open);
  keys.on('quit', quit);
}

/** Offers to load all messages when the user searches by the browser, which sees the loaded ones only. */
function offerAll() {
  document.addEventListener('keydown', (e) => {
    const n = feeds.unloaded();
    if (!(e.ctrlKey || e.metaKey) || e.key.toLowerCase() !== 'f' || n === 0) return;
    say({ said: `The browser finds nothing in ${n} messages that are not loaded.` });
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Load all';
    button.addEventListener('click', async () => {
      button.disabled = true;
      await feeds.loadAll();
      say({ said: 'All messages are loaded' });
    });
    const search = document.createElement('a');
    search.href = '/search';
    search.textContent = 'Search in bough';
    document.getElementById('status')?.append(' ', button, ' ', search);
  });
}

/** Events after which a message may have other branches and checkpoints. */
const copies = ['checkpoint_created', 'branch_created', 'session_created', 'session_removed', 'session_renamed'];

/** The messages that arrived and are to be shown. @type {Event[]} */
let arrived = [];
let waiting = 0;

/** @param {Event[]} events */
function onEvents(events) {
  for (const e of events) {
    if (e.type !== 'chat_content') arrived.push(e);
    else if (!stream.add(e)) catchUp();
  }
  if (arrived.length === 0 || waiting) return;
  waiting = setTimeout(update, pause);
}

/** Whether the replies in progress are being read. */
let catching = false;

/** Reads what replies in progress have so far. */
async function catchUp() {
  if (catching) return;
  catching = true;
  try {
    stream.take(await piece(pathOf(feeds.address())));
  } catch {
    // The next chunk without a place tries again.
  } finally {
    catching = false;
  }
}

/** Shows what has arrived. */
async function update() {
  const events = arrived;
  arrived = [];
  try {
    await showEvents(events);
    stream.end(events);
    await tree.refresh();
  } catch (e) {
    if (!(e instanceof TypeError)) say({ said: `The page cannot be read again: ${/** @type {Error} */ (e).message}` });
  }
  waiting = arrived.length ? setTimeout(update, pause) : 0;
}

/** @param {Event[]} events */
async function showEvents(events) {
  const feed = feeds.feedOf();
  if (!feed) {
    await reread();
    return;
  }
  const { session } = feed.dataset;
  if (events.some((e) => (e.type === 'session_changed' || e.type === 'session_removed') && e.session_id === session)) {
    await again();
    return;
  }
  let { leaf } = feed.dataset;
  let count = 0;
  const touched = new Set();
  for (const { type, message_id: id, parent_id: parent } of events) {
    if (type === 'head_moved' || type === 'message_added') for (const e of feed.querySelectorAll('article.head')) touched.add(/** @type {HTMLElement} */ (e).dataset.message);
    if (type === 'message_added' && id && (parent ?? '') === (leaf ?? '')) {
      leaf = id;
      count++;
      continue;
    }
    for (const m of [id, parent]) if (m && feeds.article(m)) touched.add(m);
    if (parent) for (const child of childrenOf(parent)) touched.add(child);
  }
  if (events.some((e) => copies.includes(e.type) && e.session_id !== session)) feeds.inView().forEach((m) => touched.add(m));
  if (count) await feeds.grow(leaf ?? '', count);
  if (touched.size) await feeds.refresh(touched);
  await reread();
}

/** Returns the message after a message on the path, whose fork may have changed. @param {string} id */
function childrenOf(id) {
  const at = Number(feeds.article(id)?.dataset.at);
  const next = feeds.feedOf()?.querySelector(`article[data-at="${at + 1}"]`);
  const message = /** @type {HTMLElement | null} */ (next)?.dataset.message;
  return message ? [message] : [];
}

/** Reads the view again, and changes what differs around the feed. */
async function reread() {
  const at = main();
  if (!at) return;
  const next = await piece(pathOf(feeds.address()));
  const [old, feed] = [feeds.feedOf(), feeds.feedOf(next)];
  const follows = !location.pathname.startsWith('/c/'); // the path of a head, and not one of an address
  if (follows && (old?.dataset.session !== feed?.dataset.session || (old && feed && isElsewhere(feed)))) {
    feeds.swap(at, next);
    await feeds.start();
    document.dispatchEvent(new CustomEvent('bough:shown'));
    return;
  }
  morph(at, next);
}

/** Reads the page again while an exchange with a remote is in progress. */
function followExchange() {
  if (!main()?.querySelector('[data-exchange]')) return;
  setTimeout(async () => {
    try {
      await reread();
    } catch {
      // The next time may find the server again.
    }
    followExchange();
  }, 1000);
}

/** Reports whether a path does not continue the one that is shown. @param {HTMLElement} feed */
function isElsewhere(feed) {
  const leaf = feeds.feedOf()?.dataset.leaf ?? '';
  return feed.dataset.leaf !== leaf && leaf !== '' && !feed.querySelector(`[data-message="${CSS.escape(leaf)}"]`);
}

/** @param {URL} url */
function pathOf(url) {
  return url.pathname + url.search;
}

/** Reads the path again, with what is in view where it is. */
async function again() {
  const place = feeds.place() ?? { at: 0, top: 0 };
  try {
    await siblings.show(feeds.latest(), place, '');
    return;
  } catch (e) {
    if (!isGone(e)) throw e;
  }
  try {
    await siblings.show(new URL(location.pathname, location.href), place, ''); // the leaf is gone
    feeds.readdress();
  } catch (e) {
    if (!isGone(e)) throw e;
    say({ said: 'This conversation was removed. What is shown may be in the trash.' });
  }
}

/** Reports whether the server answers that something does not exist. @param {unknown} e */
function isGone(e) {
  return e instanceof Refusal && e.status === 404;
}

/** Shows what the page may have missed. */
async function missed() {
  try {
    if (feeds.feedOf()) await again();
    else await reread();
    await tree.refresh();
  } catch (e) {
    if (e instanceof Refusal) say({ said: e.message });
  }
}

/** Loads the page again, because the events do not say what changed. */
function reset() {
  history.replaceState(history.state, '', feeds.latest());
  location.reload();
}

/** @param {import('./live.js').State} state */
function onState(state) {
  const before = document.body.dataset.connection;
  document.body.dataset.connection = state;
  if (state === 'reconnecting') say({ said: 'Reconnecting…' });
  else if (state === 'signed-out') say({ said: 'Signed out. Open the page again with “bough open”.' });
  else if (state === 'online' && before === 'reconnecting') say({ said: 'Connected again' });
  if (state === 'online' && stream.isWriting()) catchUp();
}

function listen() {
  const { seq, heartbeat } = document.body.dataset;
  if (!seq) return;
  const live = new Live(seq, Number(heartbeat) || 15_000, { events: onEvents, state: onState, missed, reset });
  live.start();
  window.addEventListener('pagehide', () => {
    history.replaceState({ ...history.state, place: feeds.place() ?? undefined }, '');
    live.stop();
  });
  window.addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    live.start();
    missed();
  });
}

async function start() {
  if (isSilent()) sayKept();
  bindKeys();
  tree.start();
  act.start();
  menus.start();
  siblings.start();
  highlight.start();
  followExchange();
  offerAll();
  document.addEventListener('bough:added', (e) => highlight.watch(/** @type {CustomEvent<Element>} */ (e).detail));
  document.addEventListener('bough:shown', () => {
    act.restoreDrafts();
    highlight.watch(document);
  });
  listen();
  await Promise.all([feeds.start(history.state?.place), keys.start()]);
  document.body.dataset.ready = '';
}

start();
