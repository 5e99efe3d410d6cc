// The inspector: reads a text, shows the ID in it field by field, and keeps the link in the address bar. It works without a
// server, and never changes the typed text.

import { byId, el, goTo, option, say, setOptions } from './dom.mjs'
import { linkTo, readLink } from './link.mjs'
import { DIALECTS, describe, dialectChoices, FORMS, layouts, rankAll, readText } from './reading.mjs'

const SAID_AFTER_MS = 800 // a screen reader reads the result once the typing pauses
const COPIED_MS = 1500
const EXAMPLES = [
  ['a Discord ID', '175928847299117063', 'discord'],
  ['a Twitter ID', '1212092628029698048', 'twitter'],
  ['a UUID', () => layouts.flake.toUuid(layouts.flake.encode({ timestamp: Date.now(), worker: 7, counter: 5 })), ''],
  ['a Chronicle timestamp', '2021-12-28T14:07:02.954100128', 'chronicle'],
]

const shown = {}
let choices = dialectChoices
let saying

/** The layouts to read a text with: the selected one, or all. */
const chosenOnes = () => (shown.layout.value === '' ? choices : choices.filter(({ key }) => key === shown.layout.value))

function fieldInStrip({ name, kind, digits }) {
  const groups = digits.match(/.{1,4}(?=(?:.{4})*$)/g) ?? []
  const label = el('span', { class: 'strip-name' }, name)
  return el('li', { class: `field ${kind}` }, el('span', { class: 'strip-digits' }, groups.join('\u200b')), label)
}

function rowOfField({ name, kind, digits, place, value, meaning }) {
  const bits = el('span', { class: 'hidden' }, `: ${digits}`)
  return el(
    'tr',
    { role: 'row' },
    el('th', { role: 'rowheader', scope: 'row' }, el('span', { class: `swatch ${kind}`, 'aria-hidden': 'true' }), name),
    el('td', { role: 'cell', class: 'digits' }, place, bits),
    el('td', { role: 'cell', class: 'digits value' }, value),
    el('td', { role: 'cell', class: 'meaning' }, meaning),
  )
}

/** Copies a form of the ID. The browser may refuse it. */
async function copy(name, text, button) {
  const isCopied = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )
  clearTimeout(saying) // this message is more urgent
  say(button, isCopied ? 'Copied' : 'Failed')
  say(shown.said, isCopied ? `${name} copied` : `The browser did not allow copying ${name}`)
  setTimeout(() => say(button, 'Copy'), COPIED_MS)
}

function formRow([name, text]) {
  const value = el('dd', {}, el('code', { class: 'digits' }, text))
  if (navigator.clipboard !== undefined) {
    const button = el('button', { type: 'button', class: 'small', 'aria-label': `Copy ${name}` }, 'Copy')
    button.addEventListener('click', () => copy(name, text, button))
    value.append(button)
  }
  return el('div', {}, el('dt', {}, name), value)
}

function readingRow({ choice, date, why, isPossible }, current) {
  const when = date === undefined ? '' : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
  const name = el('span', { class: 'reading-name' }, choice.label)
  const text = el('span', { class: 'reading-why' }, when === '' ? why : `${when}: ${why}`)
  const attributes = { type: 'button', class: 'reading', 'aria-pressed': String(choice.key === current.rankedAs) }
  if (!isPossible) return el('li', {}, el('div', { class: 'reading' }, name, text))
  const button = el('button', attributes, name, text)
  button.addEventListener('click', () => {
    shown.layout.value = choice.key
    update()
    goTo(shown.title)
  })
  return el('li', {}, button)
}

/** The layout to show: the selected one, or the most plausible one that the text allows. */
function layoutToShow(readings, only) {
  const chosen = chosenOnes()
  if (chosen.length === 1) return chosen[0]
  const allowed = only ?? choices
  return readings.find(({ choice, isPossible }) => isPossible && allowed.includes(choice))?.choice ?? allowed[0]
}

/** The ID in a text, its layout and everything to show; throws an error whose message is a plain sentence. */
function examine(text) {
  const { id, form, note, only } = readText(text, shown.form.value, chosenOnes())
  const readings = rankAll(id, choices)
  const current = layoutToShow(readings, only)
  return { id, form, note, readings, current, described: describe(id, current) }
}

function show({ form, note, readings, current, described }) {
  const { when, iso, also, fields, forms, isMoved, isDecimal } = described
  say(shown.title, `${current.label}${shown.layout.value === '' ? ' (most plausible)' : ''}`)
  say(shown.when, when)
  if (iso === undefined) shown.when.removeAttribute('datetime')
  else shown.when.dateTime = iso
  say(shown.also, also)
  const remarks = [note === undefined ? `Read as ${form}.` : `${note[0].toUpperCase()}${note.slice(1)}.`]
  if (isMoved) remarks.push('This layout adds an offset to its IDs. The bits are shown without it.')
  if (shown.wanted !== undefined)
    remarks.push(`The link names the layout '${shown.wanted}', which this page does not know.`)
  say(shown.hint, remarks.join(' '))
  say(shown.placeTitle, isDecimal ? 'Digits' : 'Bits')
  shown.strip.replaceChildren(...fields.map(fieldInStrip))
  shown.parts.replaceChildren(...fields.map(rowOfField))
  shown.forms.replaceChildren(...forms.map(formRow))
  showReadings(readings, current)
  const values = fields
    .filter(({ kind }) => kind === 'node' || kind === 'count')
    .map(({ name, value }) => `${name} ${value}`)
  sayLater(`${current.label}: ${when}, ${values.join(', ')}`)
}

/** Shows the likely readings, with the unlikely ones collapsed. */
function showReadings(readings, current) {
  const isShown = ({ isLikely, choice }) => isLikely || choice.key === current.rankedAs
  const [likely, others] = [readings.filter(isShown), readings.filter((each) => !isShown(each))]
  shown.readings.replaceChildren(...likely.map((each) => readingRow(each, current)))
  shown.others.replaceChildren(...others.map((each) => readingRow(each, current)))
  shown.unlikely.hidden = others.length === 0
  say(shown.unlikelyTitle, `${others.length} unlikely ${others.length === 1 ? 'layout' : 'layouts'}`)
}

/** For screen readers, after a pause rather than at each key. */
function sayLater(text) {
  clearTimeout(saying)
  saying = setTimeout(() => say(shown.said, text), SAID_AFTER_MS)
}

/** An error's message as a sentence. */
const sentence = ({ message }) => (/[.!?]$/.test(message) ? message : `${message}.`)

function showFault(text) {
  say(shown.fault, text)
  shown.id.toggleAttribute('aria-invalid', text !== '')
  if (text !== '') shown.id.setAttribute('aria-invalid', 'true')
  shown.result.hidden = true
  if (text !== '') sayLater(text)
}

/** Reads the text and the selected form and layout, and shows the result. */
function update() {
  const text = shown.id.value.trim()
  shown.empty.hidden = text !== ''
  say(shown.hint, shown.hintText)
  if (text === '') {
    clearTimeout(saying)
    say(shown.said, '')
    showFault('')
    return setLink('')
  }
  try {
    const found = examine(text)
    showFault('')
    show(found)
    shown.result.hidden = false
    setLink(linkTo(String(found.id), shown.layout.value === '' ? '' : found.current.key))
  } catch (error) {
    if (error.code !== 'ERR_FLAKE_ID') throw error
    showFault(sentence(error))
    setLink('')
  }
}

/** Keeps the link to the current view in the address bar, without a history entry for each key. */
function setLink(hash) {
  if (location.hash !== hash) history.replaceState(null, '', hash === '' ? location.pathname + location.search : hash)
}

/** The key that a link means: `layout=` may also be a name of the server. */
function keyOf(wanted) {
  return [wanted, `name ${wanted}`].find((key) => choices.some((choice) => choice.key === key)) ?? ''
}

/** Shows the ID in a hash. An unknown layout may arrive later, with the server's names. */
function follow(hash) {
  const link = readLink(hash)
  if (link === undefined) return false
  shown.id.value = link.id
  shown.form.value = 'auto'
  shown.layout.value = keyOf(link.key)
  shown.wanted = keyOf(link.key) === '' && link.key !== '' ? link.key.replace(/^name /, '') : undefined
  update()
  return true
}

function listLayouts() {
  const named = choices.filter(({ name }) => name !== undefined)
  const group = (label, some) => el('optgroup', { label }, ...some.map((each) => option(each.key, each.label)))
  setOptions(shown.layout, [
    option('', 'most plausible'),
    ...(named.length > 0 ? [group('Names of this server', named)] : []),
    group('Layouts', choices.slice(named.length)),
  ])
}

/** Adds the names of the server to the layouts. */
export function setNames(named) {
  choices = [...named, ...dialectChoices]
  listLayouts()
  if (shown.wanted !== undefined && keyOf(shown.wanted) !== '') {
    shown.layout.value = keyOf(shown.wanted)
    shown.wanted = undefined
    update()
  } else if (shown.id.value !== '') update()
}

function exampleButton([label, text, layout]) {
  const button = el('button', { type: 'button', class: 'small' }, label)
  button.addEventListener('click', () => {
    shown.id.value = typeof text === 'function' ? text() : text
    shown.form.value = 'auto'
    shown.layout.value = layout
    update()
    goTo(shown.title)
  })
  return button
}

/** Starts the inspector. */
export function startInspector() {
  const ids = {
    id: 'id',
    form: 'form',
    layout: 'layout',
    hint: 'id-hint',
    fault: 'id-fault',
    said: 'said',
    empty: 'empty',
  }
  const more = {
    result: 'result',
    title: 'result-title',
    when: 'when',
    also: 'when-also',
    strip: 'strip',
    parts: 'parts',
  }
  const last = { forms: 'forms', readings: 'readings', placeTitle: 'place-title', examples: 'examples' }
  const rest = { unlikely: 'unlikely', unlikelyTitle: 'unlikely-title', others: 'unlikely-readings' }
  for (const [name, id] of Object.entries({ ...ids, ...more, ...last, ...rest })) shown[name] = byId(id)
  shown.hintText = shown.hint.textContent.trim().replaceAll(/\s+/g, ' ')
  shown.form.replaceChildren(...Object.entries(FORMS).map(([form, text]) => option(form, text)))
  listLayouts()
  shown.examples.append(...EXAMPLES.filter(([, , name]) => name === '' || DIALECTS.includes(name)).map(exampleButton))
  shown.id.addEventListener('input', update)
  shown.form.addEventListener('change', update)
  shown.layout.addEventListener('change', () => {
    shown.wanted = undefined
    update()
  })
  addEventListener('hashchange', ({ newURL }) => {
    if (follow(new URL(newURL).hash)) goTo(shown.title) // location.hash may be ours again: names may have arrived meanwhile
  })
  if (!follow(location.hash)) update()
}
