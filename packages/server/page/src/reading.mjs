// Reads a text: the ID in it, its possible layouts, and the fields, times and forms to show. It knows neither the document nor
// the server. Every value that it returns comes from the codec.

import { format, Layout, layouts, parse, toBigInt, toSigned } from '../../../../lib/entries/codec.ts'
import { contenders, isPlausible, ownSystem, rank, reasons } from '../../../../lib/reading/ranking.ts'
import { fromNow } from '../../../../lib/reading/stamps.ts'
import { prefixOf, readId } from '../../../../lib/reading/text-forms.ts'

/** The forms that can be selected, and their names. */
export const FORMS = {
  auto: 'any form',
  dec: 'decimal',
  hex: 'hex',
  bin: 'binary',
  base32: 'base 32',
  base36: 'base 36',
  base58: 'base 58',
  base62: 'base 62',
  tid: 'TID',
  uuid: 'UUID',
}
export const DIALECTS = Object.keys(layouts)

const PREFIX = { hex: /^0x/i, bin: /^0b/i }
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
const DIGITS_OF_HOST = 2 // of the decimal layouts

/**
 * A layout that can be selected: its key in links, its label, the codec's Layout, and the server's name for it. It is ranked
 * under its key, or as the dialect that it equals.
 */
const choice = (key, label, layout, name) => ({
  key,
  label,
  layout,
  name,
  rankedAs: isUsual(layout) ? layout.name : key,
})

/** Whether a layout equals the dialect of its name, in all but the mode, which each ID shows. */
function isUsual(layout) {
  return JSON.stringify(layouts[layout.name]) === JSON.stringify({ ...layout.toJSON(), mode: undefined })
}

export const dialectChoices = DIALECTS.map((name) => choice(name, name, layouts[name]))

/** The layout of one of the server's names, from its entry in /v1/names. */
export function choiceOfName({ name, layout }) {
  const { end, signedEnd, ...copy } = layout
  return choice(`name ${name}`, name === layout.name ? name : `${name}: ${layout.name}`, new Layout(copy), name)
}

/** A UUID fits several layouts if they differ only in properties that a UUID does not record. */
function readUuid(text, choices) {
  const found = choices.flatMap((each) => {
    try {
      return [{ each, id: toBigInt(each.layout.fromUuid(text)) }]
    } catch {
      return []
    }
  })
  if (found.length > 0) return { id: found[0].id, form: 'UUID', only: found.map(({ each }) => each) }
  if (choices.length === 1 || !/^.{14}8.{4}[89ab]/i.test(text)) choices[0].layout.fromUuid(text) // throws the reason
  const message = `'${text}' is not a UUID of any layout that this page knows: its layout has another epoch or tick.`
  throw Object.assign(new TypeError(message), { code: 'ERR_FLAKE_ID' })
}

/**
 * The ID in a text; throws an error whose message is a plain sentence.
 * @returns {{ id: bigint, form: string, note?: string, only?: object[] }} `only`: the layouts that it can have
 */
export function readText(given, form, choices) {
  const text = given.trim()
  if (form === 'uuid' || (form === 'auto' && UUID.test(text))) return readUuid(text, choices)
  if (form !== 'auto') {
    const digits = text.slice(prefixOf(text).length).replace(PREFIX[form] ?? '', '')
    return { id: toBigInt(parse(digits, form)), form: FORMS[form] }
  }
  const { id, form: found, note } = readId(text)
  return { id, form: FORMS[found] ?? found, note }
}

/** All readings of an ID, most plausible first. A name whose layout equals a dialect counts as that dialect. */
export function rankAll(id, choices, now = Date.now()) {
  const own = choices.filter(({ name, key, rankedAs }) => name !== undefined && rankedAs === key)
  const readings = rank(
    id,
    now,
    own.map(({ key, layout }) => ownSystem(key, layout)),
  )
  const likely = new Set(contenders(readings, true))
  return readings.map((reading) => ({
    choice: choices.find(({ key }) => key === reading.name),
    date: reading.parts?.date,
    why: reasons(reading),
    isLikely: likely.has(reading) && isPlausible(reading),
    isPossible: reading.parts !== undefined,
  }))
}

/** The length of a tick in ms, computed from the layout's times, because a Layout does not expose it. */
function tickMsOf(layout) {
  try {
    return (layout.decode(layout.encode({ tick: 1_000_000n })).timestamp - layout.epoch) / 1_000_000
  } catch {
    return undefined // idOffset leaves no room for that ID
  }
}

function tickText(layout) {
  const ms = tickMsOf(layout)
  if (ms === undefined) return 'ticks'
  if (ms === 1) return 'ms'
  return ms < 1 ? `ticks of ${Number((ms * 1000).toPrecision(6))} µs` : `ticks of ${ms} ms`
}

const kindOf = (name) => ({ timestamp: 'time', counter: 'count', zero: 'zero', mode: 'mode' })[name] ?? 'node'

const day = (layout) => new Date(layout.epoch).toISOString().replace(/T00:00:00\.000Z$/, '')

/** The meaning of a field's value, in words. */
function meaning(name, layout, parts, bits) {
  if (name === 'timestamp') {
    const isReversed = parts.mode === 'spread' && layout.fields.every(([each]) => each !== 'mode')
    return `${tickText(layout)} after ${day(layout)}${isReversed ? ', its bits reversed' : ''}`
  }
  if (name === 'zero') return bits === 1 ? 'always 0, so that signed columns can hold it' : 'always 0'
  if (name === 'counter') return `one of ${2 ** bits} per tick`
  if (name === 'mode')
    return parts.mode === 'spread' ? 'the bits of the time are reversed' : 'the IDs are ordered by time'
  if (bits === undefined) return `one of ${10 ** DIGITS_OF_HOST}`
  const pieces = layout.fields.filter(([each]) => each === name).length
  return `one of ${2 ** bits}${pieces > 1 ? ', in two pieces' : ''}`
}

/** The number of bits of a node field, which may be in two pieces. */
const widthOf = (layout, name) =>
  layout.fields.filter(([each]) => each === name).reduce((sum, [, bits]) => sum + bits, 0)

const textOf = (name, parts) =>
  name === 'timestamp' ? String(parts.tick) : name === 'zero' ? '0' : String(parts[name])

/** The fields of an ID in a decimal layout: digits instead of bits. */
function decimalFields(id, layout, parts) {
  const text = format(id, 'dec').padStart(DIGITS_OF_HOST + 1, '0')
  const cut = text.length - DIGITS_OF_HOST
  const field = (name, digits, place) => ({
    name,
    kind: kindOf(name),
    digits,
    place,
    value: textOf(name, parts),
    meaning: meaning(name, layout, parts),
  })
  return [
    field('timestamp', text.slice(0, cut), `the first ${cut}`),
    field('host', text.slice(cut), `the last ${DIGITS_OF_HOST}`),
  ]
}

/** The fields of an ID, most significant first. */
function fieldsOf(id, layout, parts) {
  if (layout.fields.length === 0) return decimalFields(id, layout, parts)
  const bits = format(id, 'bin')
  let at = 0
  return layout.fields.map(([name, width]) => {
    const high = 63 - at
    const low = high - width + 1
    at += width
    return {
      name,
      kind: kindOf(name),
      digits: bits.slice(at - width, at),
      place: width === 1 ? String(high) : `${high} to ${low}`,
      value: textOf(name, parts),
      meaning: meaning(name, layout, parts, name === 'zero' ? width : widthOf(layout, name)),
    }
  })
}

/** The forms of an ID, as pairs of a name and a text. */
function formsOf(id, layout, { date }) {
  const forms = [
    ['Decimal', format(id, 'dec')],
    ['Signed', String(toSigned(id))],
    ['Hex', `0x${format(id, 'hex').padStart(16, '0')}`],
    ['Base 32', format(id, 'base32')],
    ['Base 36', format(id, 'base36')],
    ['Base 58', format(id, 'base58')],
    ['Base 62', format(id, 'base62')],
    ['UUID', layout.toUuid(id)],
  ]
  if (layout.name === 'tid') forms.push(['TID', format(id, 'tid')])
  if (layout.fields.length === 0 && !Number.isNaN(date.getTime())) forms.push(['Time', layout.toText(id)])
  return forms.filter(([name, text]) => name !== 'Signed' || text !== forms[0][1])
}

/** The part of a tick below a ms, exactly: `timestamp` is a number, which rounds it. */
function beyondMs(layout, tick) {
  const tickNs = Math.round((tickMsOf(layout) ?? 1) * 1e6)
  const ns = (tick * BigInt(tickNs)) % 1_000_000n
  return ns === 0n ? '' : String(ns).padStart(6, '0').replace(/0+$/, '')
}

/** A time in words, in UTC and in the reader's time zone. */
function timesOf(layout, { date, timestamp, tick }, now) {
  if (Number.isNaN(date.getTime())) return { when: 'A time outside the range of a Date', iso: undefined, also: '' }
  const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' }).format(date)
  const iso = date.toISOString()
  const when = `${iso.slice(0, 10)} ${iso.slice(11, -1)}${beyondMs(layout, tick)} UTC`
  return { when, iso, also: `${local} in your time zone, ${fromNow(timestamp, now)}` }
}

/** Everything that the page shows of an ID in a layout; throws an error with a plain sentence if the layout has no such ID. */
export function describe(id, { layout }, now = Date.now()) {
  const parts = layout.decode(id)
  const { idOffset = 0n } = layout
  return {
    ...timesOf(layout, parts, now),
    fields: fieldsOf(BigInt.asUintN(64, id - idOffset), layout, parts), // the offset is added to the finished ID
    isMoved: idOffset !== 0n,
    isDecimal: layout.fields.length === 0,
    forms: formsOf(id, layout, parts),
  }
}

/** The node fields of an ID in short, as `1/0` for datacenter 1 and worker 0. */
const nodeText = (layout, parts) =>
  [...new Set(layout.fields.map(([name]) => name))]
    .filter((name) => kindOf(name) === 'node')
    .map((name) => parts[name])
    .join('/')

/** A row of the list of new IDs; a segment's number has no parts. */
export function rowOf(id, layout) {
  if (layout === undefined) return { id, time: '', node: '', counter: '' }
  const parts = layout.decode(id)
  return {
    id,
    time: parts.date.toISOString().slice(11, -1),
    node: layout.fields.length === 0 ? String(parts.host) : nodeText(layout, parts),
    counter: String(parts.counter),
  }
}

export { fromNow, layouts }
