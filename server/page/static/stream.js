// @ts-check
// The replies of agents, as they are written. The text is shown as it is until the message
// is complete; the server then sends it as HTML.

import * as feeds from './feed.js';

/** @typedef {import('./live.js').Event} Event */

/** Returns the id of the element of a reply in progress. @param {string} message */
function idOf(message) {
  return `reply-${message}`;
}

/** Reports whether an agent or a session is shown. @param {Event} event */
function isShown({ agent, session_id }) {
  const { session, agent: name } = feeds.feedOf()?.dataset ?? {};
  return (session !== undefined && session === session_id) || (name !== undefined && name === agent);
}

/** Adds a chunk of a reply. @param {Event} event */
export function add(event) {
  const feed = feeds.feedOf();
  if (!feed || !event.message_id || !isShown(event)) return;
  const follows = feeds.isAtEnd();
  let text = document.getElementById(idOf(event.message_id))?.querySelector('.text');
  if (!text) {
    const reply = document.createElement('article');
    reply.id = idOf(event.message_id);
    reply.className = 'message assistant streaming';
    reply.setAttribute('aria-busy', 'true');
    reply.setAttribute('aria-label', 'Reply in progress');
    text = document.createElement('div');
    text.className = 'text';
    text.setAttribute('dir', 'auto');
    reply.append(text);
    feed.append(reply);
  }
  text.append(event.text ?? '');
  if (follows) feeds.toEnd();
}

/** Removes replies that are complete, or whose turn has ended. @param {Event[]} events */
export function end(events) {
  for (const { type, message_id } of events) {
    if (message_id) document.getElementById(idOf(message_id))?.remove();
    if (type === 'chat_complete' || type === 'turn_interrupted') {
      for (const e of document.querySelectorAll('.message.streaming')) e.remove();
    }
  }
}
