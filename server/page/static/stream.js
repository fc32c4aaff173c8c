// @ts-check
// The replies of agents, as they are written. The text is shown as it is until the message
// is complete; the server then sends it as HTML.

import * as feeds from './feed.js';

/** @typedef {import('./live.js').Event} Event */

/** The ids of messages that are complete. @type {Set<string>} */
const ended = new Set();

/** Chunks whose text follows one that is missing. @type {Event[]} */
let early = [];

const prefix = 'reply-';

/** Returns the element of a reply in progress. @param {string} message */
function replyOf(message) {
  return document.getElementById(prefix + message);
}

/** Returns how much of a reply is shown, in characters. @param {Element} reply */
function lengthOf(reply) {
  return Number(/** @type {HTMLElement} */ (reply).dataset.length);
}

/** Reports whether an agent or a session is shown. @param {Event} event */
function isShown({ agent, session_id }) {
  const { session, agent: name } = feeds.feedOf()?.dataset ?? {};
  return (session !== undefined && session === session_id) || (name !== undefined && name === agent);
}

/** Reports whether a reply is over. @param {string} message */
function isOver(message) {
  return ended.has(message) || feeds.article(message) !== null;
}

/** Changes the feed, and keeps its end in view. @param {() => void} change */
function atEnd(change) {
  const follows = feeds.isAtEnd();
  change();
  if (follows) feeds.toEnd();
}

/** Returns a new element for a reply. @param {string} message */
function newReply(message) {
  const reply = document.createElement('article');
  reply.id = prefix + message;
  reply.className = 'message assistant streaming';
  reply.setAttribute('aria-busy', 'true');
  reply.setAttribute('aria-label', 'Reply in progress');
  reply.dataset.length = '0';
  const header = document.createElement('header');
  const author = document.createElement('h2');
  author.textContent = 'Assistant';
  header.append(author);
  const text = document.createElement('div');
  text.className = 'text';
  text.setAttribute('dir', 'auto');
  reply.append(header, text);
  return reply;
}

/**
 * Adds a chunk of a reply, without the part of it that is shown. Reports whether it has a place:
 * if text before it is missing, it waits for take.
 * @param {Event} event
 */
export function add(event) {
  const { message_id: id, offset = 0, text = '' } = event;
  const feed = feeds.feedOf();
  if (!feed || !id || !isShown(event) || isOver(id)) return true;
  const reply = replyOf(id) ?? newReply(id);
  const have = lengthOf(reply);
  if (offset > have) {
    early.push(event);
    return false;
  }
  const rest = [...text].slice(have - offset);
  atEnd(() => {
    if (!reply.isConnected) feed.append(reply);
    reply.querySelector('.text')?.append(rest.join(''));
    reply.dataset.length = `${have + rest.length}`;
  });
  return true;
}

/** Shows the replies of a view that the server sent, as far as they are longer than those that are shown. @param {ParentNode} view */
export function take(view) {
  for (const next of view.querySelectorAll('.streaming')) {
    const id = next.id.slice(prefix.length);
    const old = replyOf(id);
    if (isOver(id) || (old && old !== next && lengthOf(old) >= lengthOf(next))) continue;
    atEnd(() => (old ? old.replaceWith(next) : feeds.feedOf()?.append(next)));
  }
  const waiting = early;
  early = [];
  waiting.forEach(add);
}

/** Reports whether a reply is in progress. */
export function isWriting() {
  return document.querySelector('.message.streaming, #agent-state:not([data-state="idle"])') !== null;
}

/** Removes replies that are complete, or whose turn has ended. @param {Event[]} events */
export function end(events) {
  for (const { type, message_id } of events) {
    if (message_id) {
      ended.add(message_id);
      replyOf(message_id)?.remove();
    }
    if (type !== 'chat_complete' && type !== 'turn_interrupted') continue;
    for (const e of document.querySelectorAll('.message.streaming')) e.remove(); // the next reply comes again whole
  }
}
