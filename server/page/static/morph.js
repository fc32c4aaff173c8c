// @ts-check
// Changes elements to equal new ones, and keeps those that are the same: their focus,
// selection and scroll position, and what a user opened or typed.

/**
 * Changes the children of an element to those of another one.
 * @param {Element} old
 * @param {ParentNode} next
 */
export function morph(old, next) {
  /** @type {Map<string, Element>} */
  const named = new Map();
  for (const child of old.children) if (child.id) named.set(child.id, child);
  const stay = new Set([...next.children].map((child) => child.id).filter(Boolean));
  let at = old.firstChild;
  for (const child of [...next.childNodes]) {
    const same = match(child, at, named);
    if (!same) {
      old.insertBefore(child, at);
      continue;
    }
    while (at && at !== same && !(at instanceof Element && stay.has(at.id))) at = drop(at); // to move at would take its focus
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    update(same, child);
  }
  while (at) at = drop(at);
}

/** Removes a node, and returns the next one. @param {ChildNode} node */
function drop(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

/**
 * Returns the node that continues as child: the one with its id, else the present one if it is alike.
 * @param {ChildNode} child @param {ChildNode | null} at @param {Map<string, Element>} named
 */
function match(child, at, named) {
  if (child instanceof Element && child.id) {
    const same = named.get(child.id);
    return same?.tagName === child.tagName ? same : null;
  }
  const alike = at?.nodeType === child.nodeType && at.nodeName === child.nodeName && !(at instanceof Element && at.id);
  return alike ? at : null;
}

/** @param {ChildNode} old @param {ChildNode} next */
function update(old, next) {
  if (old.isEqualNode(next) || (old instanceof Element && old.id === 'feed')) return; // feed.js changes the feed
  if (!(old instanceof Element) || !(next instanceof Element)) {
    old.nodeValue = next.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !kept(old, name)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !kept(old, name)) old.setAttribute(name, value);
  }
  if (old.tagName !== 'TEXTAREA') morph(old, next);
}

/** Reports whether the user, not the server, decides on an attribute. @param {Element} e @param {string} name */
function kept(e, name) {
  return (name === 'open' && e.tagName === 'DETAILS') || name === 'tabindex' || name === 'style' || name === 'aria-busy';
}
