// @ts-check
// The messages of a path: chunks that are loaded near the view, and the focus among them.

import { piece } from './html.js';
import { lift } from './menus.js';
import { morph } from './morph.js';
import { say } from './status.js';

/** How many pixels beyond the view a chunk is loaded. */
const near = 1500;

/** How many pixels from the end still are the end. */
const close = 60;

export const chunkSize = 50;

/** The chunks that are being loaded. @type {WeakMap<Element, Promise<void>>} */
const loading = new WeakMap();

/** @type {IntersectionObserver | null} */
let observer = null;

/** Messages that arrived below the view. */
let unseen = 0;

/** Whether the view goes to the next messages that are added. */
let following = false;

/** Has the view go to the next messages that are added, because the user wrote one. */
export function follow() {
  following = true;
}

/** Returns the feed of the page. @param {ParentNode} root @returns {HTMLElement | null} */
export function feedOf(root = document) {
  return root.querySelector('#feed');
}

/** Returns what scrolls the feed: an element, or the page. @returns {Element} */
function scroller() {
  for (let e = feedOf()?.parentElement; e && e !== document.body; e = e.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(e).overflowY)) return e;
  }
  return document.scrollingElement ?? document.documentElement;
}

/** Returns the top of the view, in pixels of the window. */
function viewTop() {
  const s = scroller();
  return s === document.scrollingElement ? 0 : s.getBoundingClientRect().top;
}

/** Reports whether the end of the feed is in view. */
export function isAtEnd() {
  const s = scroller();
  return s.scrollHeight - s.scrollTop - s.clientHeight < close;
}

export function toEnd() {
  const s = scroller();
  s.scrollTop = s.scrollHeight;
}

/** @param {Element} section @param {string} name */
function number(section, name) {
  return Number(/** @type {HTMLElement} */ (section).dataset[name]);
}

/** Returns the path of messages [from, to) of the path to a leaf. @param {HTMLElement} feed @param {number} from @param {number} to */
function pathOf(feed, from, to) {
  const query = new URLSearchParams({ session: feed.dataset.session ?? '', leaf: feed.dataset.leaf ?? '', from: `${from}`, to: `${to}` });
  return `/piece/messages?${query}`;
}

/** Returns the content of a chunk: that of the sections in an answer, or the answer. @param {DocumentFragment} answer */
function contentOf(answer) {
  const sections = [...answer.querySelectorAll('section.chunk')];
  if (sections.length === 0) return answer;
  const all = document.createDocumentFragment();
  for (const section of sections) all.append(...section.childNodes);
  return all;
}

/**
 * Changes the document, and keeps what is in view where it is.
 * @param {() => void} change
 */
export function keep(change) {
  const top = viewTop();
  const at = visible(top);
  const before = at?.getBoundingClientRect().top ?? 0;
  change();
  const now = at?.isConnected ? at : at?.id ? document.getElementById(at.id) : null;
  if (now) scroller().scrollTop += now.getBoundingClientRect().top - before;
}

/** Returns the first message in view. @param {number} top @returns {Element | null} */
function visible(top) {
  for (const section of feedOf()?.querySelectorAll('.chunk:not(.unloaded)') ?? []) {
    if (section.getBoundingClientRect().bottom <= top) continue;
    for (const article of section.querySelectorAll('article')) {
      if (article.getBoundingClientRect().bottom > top) return article;
    }
  }
  return null;
}

/** Gives chunks that are not loaded the height that they may have. @param {HTMLElement} feed */
function estimate(feed) {
  let messages = 0;
  let height = 0;
  for (const section of feed.querySelectorAll('.chunk:not(.unloaded)')) {
    messages += number(section, 'to') - number(section, 'from');
    height += section.getBoundingClientRect().height;
  }
  const each = messages ? Math.max(height / messages, 24) : 160;
  for (const section of feed.querySelectorAll('.chunk.unloaded')) {
    /** @type {HTMLElement} */ (section).style.minHeight = `${Math.round((number(section, 'to') - number(section, 'from')) * each)}px`;
  }
}

/** Loads a chunk. @param {Element} section @param {HTMLElement} feed */
function load(section, feed) {
  let done = loading.get(section);
  if (!done) {
    done = fill(section, feed).finally(() => loading.delete(section));
    loading.set(section, done);
  }
  return done;
}

/** @param {Element} section @param {HTMLElement} feed */
async function fill(section, feed) {
  const content = contentOf(await piece(pathOf(feed, number(section, 'from'), number(section, 'to'))));
  if (section.isConnected) keep(() => put(section, content, measure));
  else put(section, content);
}

/**
 * Lays out a chunk, also one out of view, whose height the browser would else assume until it is drawn.
 * @param {Element} section
 */
function measure(section) {
  const { style } = /** @type {HTMLElement} */ (section);
  style.contentVisibility = 'visible';
  requestAnimationFrame(() => requestAnimationFrame(() => { // the browser remembers the height of a frame
    style.contentVisibility = '';
  }));
}

/** Puts messages into a chunk. @param {Element} section @param {DocumentFragment} content @param {(section: Element) => void} [then] */
function put(section, content, then) {
  observer?.unobserve(section);
  section.classList.remove('unloaded');
  /** @type {HTMLElement} */ (section).style.minHeight = '';
  lift(content);
  section.replaceChildren(content);
  then?.(section);
  document.dispatchEvent(new CustomEvent('bough:added', { detail: section }));
}

/** Loads the chunks near the view, from now on. @param {HTMLElement} feed */
function observe(feed) {
  observer?.disconnect();
  const root = scroller() === document.scrollingElement ? null : scroller();
  observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) load(target, feed).catch((e) => say({ said: `Earlier messages cannot be loaded: ${e.message}` }));
    }
  }, { root, rootMargin: `${near}px 0px` });
  for (const section of feed.querySelectorAll('.chunk.unloaded')) observer.observe(section);
}

/** Returns the chunk that has the message at an index. @param {HTMLElement} feed @param {number} at */
function chunkAt(feed, at) {
  return [...feed.querySelectorAll('.chunk')].find((s) => number(s, 'from') <= at && at < number(s, 'to')) ?? null;
}

/** Loads the chunks about an index. @param {HTMLElement} feed @param {number} at */
export async function loadAt(feed, at) {
  const sections = [at - chunkSize / 2, at, at + chunkSize / 2].map((i) => chunkAt(feed, i));
  await Promise.all([...new Set(sections)].map((s) => s?.classList.contains('unloaded') && load(s, feed)));
}

/** How many messages the server sends at most. */
const largest = 1000;

/** Loads all messages. They are added at once: each addition lays out all of them. */
export async function loadAll() {
  const feed = feedOf();
  if (!feed) return;
  const todo = [...feed.querySelectorAll('.chunk.unloaded')];
  /** @type {[Element, DocumentFragment][]} */
  const loaded = [];
  while (todo.length > 0) {
    const to = number(todo[todo.length - 1], 'to');
    let group = [todo.pop()];
    while (todo.length > 0 && number(todo[todo.length - 1], 'to') === number(group[0] ?? feed, 'from') && to - number(todo[todo.length - 1], 'from') <= largest) {
      group = [todo.pop(), ...group];
    }
    const content = contentOf(await piece(pathOf(feed, number(group[0] ?? feed, 'from'), to)));
    for (const section of group) if (section) loaded.push([section, take(content, number(section, 'to'))]);
  }
  keep(() => loaded.forEach(([section, content]) => section.classList.contains('unloaded') && put(section, content)));
}

/** Takes the messages before an index. @param {DocumentFragment} content @param {number} to */
function take(content, to) {
  const part = document.createDocumentFragment();
  for (const e of [...content.children]) {
    if (number(e, 'at') >= to) break;
    part.append(e);
  }
  return part;
}

/** Returns how many messages are not loaded. */
export function unloaded() {
  let n = 0;
  for (const s of feedOf()?.querySelectorAll('.chunk.unloaded') ?? []) n += number(s, 'to') - number(s, 'from');
  return n;
}

/** Returns the article of a message. @param {string | null | undefined} id @returns {HTMLElement | null} */
export function article(id) {
  return id ? document.getElementById(`m-${id}`) : null;
}

/** Changes the view to another one, with another feed. @param {Element} main @param {DocumentFragment} next */
export function swap(main, next) {
  const old = feedOf(main);
  const feed = feedOf(next);
  if (old && feed) {
    const place = document.createElement(feed.tagName);
    place.id = feed.id;
    feed.replaceWith(place);
    old.replaceWith(feed);
  }
  morph(main, next);
}

/** The index of a message, and where its top is in the window. @typedef {{at: number, top: number}} Place */

/** Returns the place of a message. @param {Element} message @returns {Place} */
export function placeOf(message) {
  return { at: number(message, 'at'), top: message.getBoundingClientRect().top };
}

/** Returns the place of the first message in view. @returns {Place | null} */
export function place() {
  const e = visible(viewTop());
  return e && placeOf(e);
}

/**
 * Begins to show a feed: with a message at a place, else at the message in the address, else
 * at the end.
 * @param {Place} [place]
 */
export async function start(place) {
  seen();
  const feed = feedOf();
  if (!feed) return;
  readdress();
  if (place) await loadAt(feed, place.at);
  estimate(feed);
  const held = place && feed.querySelector(`article[data-at="${place.at}"]`);
  const named = location.hash.startsWith('#m-') && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const show = () => {
    if (held) hold(feed, held, place.top);
    else if (named) named.scrollIntoView();
    else toEnd();
  };
  show();
  if (document.readyState !== 'complete') window.addEventListener('load', show, { once: true }); // a browser goes to an anchor then
  observe(feed);
  rove(held || named || lastArticle(), false);
}

/** Scrolls so that a message is at a place, and makes the feed long enough. @param {HTMLElement} feed @param {Element} e @param {number} top */
function hold(feed, e, top) {
  const s = scroller();
  const off = () => Math.round(e.getBoundingClientRect().top - top);
  s.scrollTop += off();
  const missing = off();
  if (missing > 0) feed.style.paddingBottom = `${missing}px`;
  if (missing < 0) feed.style.paddingTop = `${-missing}px`;
  s.scrollTop += off();
}

function lastArticle() {
  return [...(feedOf()?.querySelectorAll('article') ?? [])].pop() ?? null;
}

/** Makes an article the one that Tab reaches. @param {Element | null} to @param {boolean} focus */
export function rove(to, focus) {
  if (!(to instanceof HTMLElement)) return;
  for (const e of feedOf()?.querySelectorAll('article[tabindex="0"]') ?? []) /** @type {HTMLElement} */ (e).tabIndex = -1;
  to.tabIndex = 0;
  if (!focus) return;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: 'nearest' });
}

/** Returns the article that has the focus, or had it, or is in view. @returns {HTMLElement | null} */
export function current() {
  const focused = document.activeElement?.closest('#feed article');
  if (focused instanceof HTMLElement) return focused;
  const feed = feedOf();
  return feed?.querySelector('article[tabindex="0"]') ?? /** @type {HTMLElement | null} */ (visible(viewTop()));
}

/** Moves the focus by some messages, and loads them first. @param {number} by */
export async function move(by) {
  const feed = feedOf();
  const from = current();
  if (!feed || !from) return;
  if (!document.activeElement?.closest('#feed article')) {
    rove(from, true);
    return;
  }
  const at = number(from, 'at') + by;
  const section = chunkAt(feed, at);
  if (section?.classList.contains('unloaded')) await load(section, feed);
  rove(feed.querySelector(`article[data-at="${at}"]`), true);
}

/** Moves the focus to the next fork in a direction. @param {1 | -1} by */
export function moveToFork(by) {
  const forks = [...(feedOf()?.querySelectorAll('[data-fork]') ?? [])].map(messageOf).filter((e) => e !== null);
  const at = number(current() ?? document.body, 'at') || 0;
  const list = by > 0 ? forks : forks.reverse();
  const to = list.find((e) => by * (number(e, 'at') - at) > 0);
  if (to) rove(to, true);
  else say({ said: unloaded() && by < 0 ? 'No earlier fork is loaded' : 'There is no other fork' });
}

/** Returns the message that a fork belongs to. @param {Element} fork @returns {Element | null} */
export function messageOf(fork) {
  const inside = fork.closest('article');
  if (inside) return inside;
  const next = fork.nextElementSibling;
  return next?.matches('article') ? next : fork.parentElement?.querySelector('article') ?? null;
}

/** Returns the fork of a message. @param {Element} message */
export function forkOf(message) {
  return [...(feedOf()?.querySelectorAll('[data-fork]') ?? [])].find((f) => messageOf(f) === message) ?? null;
}

/**
 * Adds the messages that follow the leaf. The view follows them only if it is at the end.
 * @param {string} leaf the new leaf
 * @param {number} count how many messages were added
 */
export async function grow(leaf, count) {
  const feed = feedOf();
  if (!feed) return;
  const from = Number(feed.dataset.total);
  feed.setAttribute('role', 'feed');
  feed.dataset.leaf = leaf;
  feed.dataset.end = '';
  feed.dataset.total = `${from + count}`;
  const parent = document.querySelector('#composer input[name="parent_id"]');
  if (parent instanceof HTMLInputElement) parent.value = leaf;
  const content = contentOf(await piece(pathOf(feed, from, from + count)));
  const follows = isAtEnd() || following;
  following = false;
  feed.style.paddingBottom = '';
  let section = [...feed.querySelectorAll('.chunk')].pop();
  if (!section || number(section, 'to') - number(section, 'from') >= 2 * chunkSize || section.classList.contains('unloaded')) {
    section = document.createElement('section');
    section.className = 'chunk';
    section.setAttribute('data-from', `${from}`);
    feed.insertBefore(section, feed.querySelector('.streaming'));
  }
  section.setAttribute('data-to', `${from + count}`);
  section.append(content);
  for (const e of feed.querySelectorAll('article[aria-setsize]')) e.setAttribute('aria-setsize', `${from + count}`);
  if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  readdress();
  document.dispatchEvent(new CustomEvent('bough:added', { detail: section }));
  if (follows) {
    toEnd();
    rove(lastArticle(), false);
  } else {
    announce(count);
  }
}

/** Returns the address of the path that is shown, so that another branch does not take its place. */
export function address() {
  const url = new URL(location.href);
  const leaf = feedOf()?.dataset.leaf;
  if (!/^#m-/.test(url.hash)) url.hash = '';
  if (!url.pathname.startsWith('/c/') || !leaf) return url;
  url.searchParams.set('leaf', leaf);
  return url;
}

/** Returns the address with the messages that may have followed the end of the path, if that is shown. */
export function latest() {
  const url = address();
  const { leaf, end } = feedOf()?.dataset ?? {};
  if (end === undefined || !leaf || !url.searchParams.has('leaf')) return url;
  url.searchParams.delete('leaf');
  url.searchParams.set('at', leaf); // the newest path through it
  return url;
}

/** Puts the leaf into the address, for reloads and links. */
export function readdress() {
  const url = address();
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}

/** Shows that messages arrived below the view. @param {number} count */
function announce(count) {
  unseen += count;
  let button = document.getElementById('new-messages');
  if (!button) {
    button = document.createElement('button');
    button.id = 'new-messages';
    button.addEventListener('click', () => {
      toEnd();
      rove(lastArticle(), true);
      seen();
    });
    document.body.append(button);
    scrolls().addEventListener('scroll', onScroll, { passive: true });
  }
  button.textContent = `${unseen} new`;
}

function scrolls() {
  const s = scroller();
  return s === document.scrollingElement ? window : s;
}

function onScroll() {
  if (isAtEnd()) seen();
}

function seen() {
  if (!unseen) return;
  unseen = 0;
  document.getElementById('new-messages')?.remove();
  scrolls().removeEventListener('scroll', onScroll);
}

/** Returns a message of each chunk that is in view. @returns {string[]} */
export function inView() {
  const chunks = [...(feedOf()?.querySelectorAll('.chunk:not(.unloaded)') ?? [])].filter((section) => {
    const { top, bottom } = section.getBoundingClientRect();
    return bottom > viewTop() && top < window.innerHeight;
  });
  return chunks.map((section) => section.querySelector('article')?.dataset.message ?? '').filter(Boolean);
}

/** Reads the chunks that have these messages again. @param {Set<string>} ids */
export async function refresh(ids) {
  const feed = feedOf();
  if (!feed) return;
  const sections = new Set([...ids].map((id) => article(id)?.closest('.chunk')));
  for (const section of sections) {
    if (!section) continue;
    const content = contentOf(await piece(pathOf(feed, number(section, 'from'), number(section, 'to'))));
    const box = document.createElement('section');
    box.append(content);
    keep(() => morph(section, box));
  }
}
