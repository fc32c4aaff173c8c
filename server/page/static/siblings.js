// @ts-check
// The switch to another reply at a fork: its path takes the place of the present one, the
// fork stays at its pixel, and back and forward switch too.

import * as feeds from './feed.js';
import { piece } from './html.js';
import { say } from './status.js';

/** @typedef {import('./feed.js').Place} Place */

/**
 * Shows the path of an address, with the message at an index at the place where the one at
 * the same index is now.
 * @param {URL} url
 * @param {Place} place
 * @param {string} rel of the link at the fork that gets the focus; "" leaves it
 */
export async function show(url, place, rel) {
  const main = document.getElementById('main');
  const old = feeds.feedOf();
  const next = await piece(url.pathname + url.search);
  const feed = feeds.feedOf(next);
  if (!main || !old || !feed) {
    location.assign(url);
    return;
  }
  if (rel) reuse(old, feed, place.at);
  await feeds.loadAt(feed, place.at);
  feeds.swap(main, next);
  await feeds.start(place);
  document.dispatchEvent(new CustomEvent('bough:shown'));
  const message = feed.querySelector(`article[data-at="${place.at}"]`);
  if (!message || !rel) return;
  const fork = feeds.forkOf(message);
  const control = fork?.querySelector(`a[rel="${rel}"]`) ?? message;
  if (control instanceof HTMLElement) control.focus({ preventScroll: true });
  if (fork) say({ said: fork.getAttribute('aria-label') ?? '' });
}

/** Moves the chunks that are on both paths, before an index. @param {Element} old @param {Element} next @param {number} at */
function reuse(old, next, at) {
  for (const section of next.querySelectorAll('.chunk')) {
    const { from, to } = /** @type {HTMLElement} */ (section).dataset;
    if (Number(to) > at) break;
    const same = old.querySelector(`.chunk[data-from="${from}"][data-to="${to}"]:not(.unloaded)`);
    if (same) section.replaceWith(same);
  }
}

/** Follows a link to another reply. @param {HTMLAnchorElement} a */
async function follow(a) {
  const fork = a.closest('[data-fork]');
  const message = fork && feeds.messageOf(fork);
  if (!message) return;
  const place = feeds.placeOf(message);
  history.replaceState({ place }, '');
  history.pushState({ place }, '', a.href);
  await show(new URL(a.href), place, a.rel || 'none');
}

/** Goes to another reply at the fork of the current message, or at the nearest fork before it. @param {'prev' | 'next'} rel */
export async function turn(rel) {
  const message = feeds.current();
  const fork = message && (feeds.forkOf(message) ?? nearest(message));
  const a = fork?.querySelector(`a[rel="${rel}"]`);
  if (a instanceof HTMLAnchorElement) await follow(a);
  else say({ said: fork ? `There is no ${rel === 'next' ? 'next' : 'previous'} reply` : 'There is no fork here' });
}

/** Returns the last fork before a message, else the first one after it. @param {Element} message */
function nearest(message) {
  const forks = [...(feeds.feedOf()?.querySelectorAll('[data-fork]') ?? [])];
  const before = forks.filter((f) => f.compareDocumentPosition(message) & Node.DOCUMENT_POSITION_FOLLOWING);
  return before.pop() ?? forks[0] ?? null;
}

export function start() {
  document.addEventListener('click', (e) => {
    const a = e.target instanceof Element ? e.target.closest('[data-fork] a[href]') : null;
    if (!(a instanceof HTMLAnchorElement) || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    follow(a).catch((err) => say({ said: err.message }));
  });
  window.addEventListener('popstate', ({ state }) => {
    if (!state?.place) return; // an anchor on the same page
    show(new URL(location.href), state.place, '').catch((err) => say({ said: err.message }));
  });
}
