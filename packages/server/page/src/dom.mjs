// The few things that the page does with the document. It must never make an element from text: what a server or a link says
// is only ever shown as text.

/** The element with this id; undefined where this page has none, as the documentation's has no live half. */
export const byId = (id) => document.getElementById(id) ?? undefined

/**
 * A new element.
 * @param {string} tag
 * @param {Record<string, string | boolean | undefined>} attributes those that are undefined or false are left out
 * @param {...(Node | string | undefined)} children
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value)
  }
  made.append(...children.filter((child) => child !== undefined))
  return made
}

/** Shows a text, without touching the document where it says so already: a screen reader would say it again. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** The options of a select; what was chosen stays chosen where it is still there. */
export function setOptions(select, children) {
  const chosen = select.value
  select.replaceChildren(...children)
  if ([...select.options].some(({ value }) => value === chosen)) select.value = chosen
}

export const option = (value, text) => el('option', { value }, text)

/** Goes to a part of the page: for the eyes, and for the keyboard. */
export function goTo(element) {
  element.focus({ preventScroll: true })
  element.scrollIntoView({ block: 'start' })
}
