// @ts-check
// The menus of messages that were loaded later. A browser takes seconds to draw thousands of
// menus, even folded ones, so a button is in the place of each until it is used.

/** The menus that are not in the page. @type {WeakMap<Element, HTMLDetailsElement>} */
const menus = new WeakMap();

/** Puts a button in the place of each menu. @param {DocumentFragment} messages */
export function lift(messages) {
  for (const menu of messages.querySelectorAll('article details.more')) {
    const summary = menu.querySelector('summary');
    if (!(menu instanceof HTMLDetailsElement) || !summary) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'more';
    button.setAttribute('aria-label', summary.getAttribute('aria-label') ?? '');
    button.setAttribute('aria-expanded', 'false');
    const icon = summary.querySelector('svg');
    if (icon) button.append(icon.cloneNode(true));
    menus.set(button, menu);
    menu.replaceWith(button);
  }
}

/** Puts the menu of a message back, and returns it. @param {Element} message */
export function restore(message) {
  const button = message.querySelector('button.more');
  const menu = button && menus.get(button);
  if (!menu) return null;
  button.replaceWith(menu);
  return menu;
}

export function start() {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('article button.more') : null;
    const message = button?.closest('article');
    const menu = message && restore(message);
    if (!menu) return;
    menu.open = true;
    menu.querySelector('summary')?.focus();
  });
}
