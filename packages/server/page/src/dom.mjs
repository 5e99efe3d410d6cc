// The page's few operations on the document. None parses text as HTML: content from a server or a link is only shown as text.

/** The element with this id; undefined if this page has none: the documentation's page has no live half. */
export const byId = (id) => document.getElementById(id) ?? undefined

/**
 * A new element.
 * @param {string} tag
 * @param {Record<string, string | boolean | undefined>} attributes undefined and false ones are omitted
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

/** Shows a text. Leaves an equal text untouched, because a screen reader would read it again. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text
}

/** Replaces the options of a select, and keeps the selected one if it still exists. */
export function setOptions(select, children) {
  const chosen = select.value
  select.replaceChildren(...children)
  if ([...select.options].some(({ value }) => value === chosen)) select.value = chosen
}

export const option = (value, text) => el('option', { value }, text)

/** Moves both the view and the keyboard focus to a part of the page. */
export function goTo(element) {
  element.focus({ preventScroll: true })
  element.scrollIntoView({ block: 'start' })
}
