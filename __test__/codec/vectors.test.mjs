// The codec in plain JavaScript against the core: what an ID says, the ID of given parts, ranges, UUIDs, ends, texts, and what is
// wrong with fields. The core's answers in vectors/codec.jsonl are frozen: see vectors/README.md.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import test from 'ava'

import { isOfOtherUnit } from '../support/units.mjs'

const codec = createRequire(import.meta.url)('flakeforge/codec')
const { toBigInt } = codec

const lines = readFileSync(new URL('../vectors/codec.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const VECTORS = lines.flatMap((question, i) => (i % 2 === 0 ? [{ question, answer: lines[i + 1] }] : []))

/** The vectors whose question has this key. */
const vectors = (key) => VECTORS.filter(({ question }) => key in question)

function codeOf(call) {
  try {
    call()
  } catch (error) {
    return error.code
  }
}

/** The layout in plain JavaScript that a question is about. */
function layoutOf({ name, spec, epoch, nodes, mode, idOffset }) {
  const options = { nodes, mode, ...(idOffset && { idOffset: BigInt(idOffset) }) }
  if (spec === undefined) return new codec.Layout(name, { epoch, ...options })
  return new codec.Layout({ name, epoch, tickMs: spec.tickNs / 1e6, fields: spec.fields }, options)
}

/**
 * Whether an offset leaves room in the 64 bits for some IDs of a tick only. No generator uses such a tick, so the codec has
 * no IDs of it. The core had not yet refused them.
 */
function isPartial({ fields, idOffset = 0n, mode }, tick) {
  const at = fields.findIndex(([name]) => name === 'timestamp')
  const shift = fields.slice(at + 1).reduce((sum, [, bits]) => sum + bits, 0)
  const size = fields.length > 0 ? 1n << BigInt(shift) : 100n
  const first = mode === 'sequential' ? 1n << 12n : 0n // the bit of the mode
  return idOffset !== 0n && (tick * size + first + idOffset < 0n || (tick + 1n) * size + idOffset > 2n ** 64n)
}

/** The last number below another. */
function below(number) {
  const bits = new BigInt64Array(new Float64Array([number]).buffer)
  bits[0] += number > 0 ? -1n : 1n
  return new Float64Array(bits.buffer)[0]
}

/** A time as the nearest number in its ms. The core had rounded it to the nearest one, which may be in the next ms. */
function timeOf({ timestamp, ns }) {
  const exact = BigInt(ns)
  const ms = Number((exact - (((exact % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n)
  return { timestamp: Math.floor(timestamp) > ms ? below(timestamp) : timestamp, date: new Date(ms) }
}

function sameId(t, layout, row, id, parts) {
  if (parts === null || isPartial(layout, BigInt(parts.tick))) {
    for (const call of [() => layout.decode(id), () => layout.toUuid(id)]) t.is(codeOf(call), 'ERR_FLAKE_ID')
    return
  }
  const { counter, node, mode, isTime, values, uuid } = parts
  const { timestamp, date } = timeOf(parts)
  const [tick, ns] = [BigInt(parts.tick), BigInt(parts.ns)]
  const nodes = Object.fromEntries(row.nodes.map((name, i) => [name, values[i]]))
  const decoded = { timestamp, date, tick, counter, id: node, ...(mode && { mode }), ...nodes }
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(id)
  t.deepEqual({ ...layout.decode(id) }, decoded)
  t.deepEqual({ ...layout.decode(bytes) }, decoded)
  t.is(parts.packed, String(id))
  const given = { counter, id: node, ...(mode && { mode }) }
  t.is(toBigInt(layout.encode({ ...given, tick })), id)
  const isExact = Number.isInteger(timestamp) && BigInt(timestamp) * 1_000_000n === ns
  for (const time of isExact ? [ns, timestamp] : [ns]) {
    if (isOfOtherUnit(time)) continue
    const encode = () => toBigInt(layout.encode({ ...given, timestamp: time }))
    if (isTime) t.is(encode(), id)
    else t.is(codeOf(encode), 'ERR_FLAKE_TIME_RANGE')
  }
  t.is(layout.toUuid(id), uuid)
  for (const text of [uuid, uuid.toUpperCase()]) t.is(toBigInt(layout.fromUuid(text)), id)
  const other = uuid.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
  t.is(
    codeOf(() => layout.fromUuid(other)),
    'ERR_FLAKE_ID',
  )
}

function sameTick(t, layout, tick, id) {
  const encode = () => toBigInt(layout.encode({ tick: BigInt(tick) }))
  if (id === null || isPartial(layout, BigInt(tick))) t.is(codeOf(encode), 'ERR_FLAKE_OPTION')
  else t.is(encode(), BigInt(id))
}

function sameTime(t, layout, row, ns, answer) {
  if (isOfOtherUnit(BigInt(ns))) return
  const range = () => Object.values(layout.range(BigInt(ns))).map(toBigInt)
  if (!row.isTimeOrdered) t.is(codeOf(range), 'ERR_FLAKE_OPTION')
  else if (answer === null) t.is(codeOf(range), 'ERR_FLAKE_TIME_RANGE')
  else t.deepEqual(range(), answer.range.map(BigInt))
}

/** A time as a number of ms is the same tick in both codecs, to the last bit. */
function sameMoment(t, layout, ms, tick) {
  if (isOfOtherUnit(Number(ms))) return
  const encode = () => layout.decode(layout.encode({ timestamp: Number(ms) })).tick
  if (tick === null) t.is(codeOf(encode), 'ERR_FLAKE_TIME_RANGE')
  else t.is(encode(), BigInt(tick), `${ms} ms`)
}

for (const { question, answer } of vectors('layout')) {
  test(`as the core: ${JSON.stringify(question.layout)}`, (t) => {
    const layout = layoutOf(question.layout)
    const { row, ids, ticks, times, moments } = answer
    t.is(Number(layout.end), Number(new Date(row.end)))
    t.is(Number(layout.signedEnd), Number(new Date(row.signedEnd)))
    for (const [i, id] of question.ids.entries()) sameId(t, layout, row, BigInt(id), ids[i])
    for (const [i, tick] of question.ticks.entries()) sameTick(t, layout, tick, ticks[i])
    for (const [i, ns] of question.times.entries()) sameTime(t, layout, row, ns, times[i])
    for (const [i, ms] of question.moments.entries()) sameMoment(t, layout, ms, moments[i])
  })
}

test('as the core: what is wrong with fields', (t) => {
  const [{ question, answer }] = vectors('specs')
  for (const [i, { fields }] of question.specs.entries()) {
    const problem = answer[i]
    if (problem === null) {
      t.truthy(new codec.Layout({ fields }))
      continue
    }
    const option = typeof problem.field === 'number' ? `fields[${problem.field}]` : 'fields'
    const { message } = t.throws(() => new codec.Layout({ fields }), { code: 'ERR_FLAKE_OPTION' })
    t.is(message, `${option} must ${problem.must}`)
  }
})

for (const { question, answer } of vectors('base')) {
  const { base, numbers, texts } = question
  test(`as the core: texts in ${base}`, (t) => {
    for (const [i, bytes] of numbers.entries()) t.is(codec.format(Uint8Array.from(bytes), base), answer.numbers[i])
    for (const [i, text] of texts.entries()) {
      const id = answer.texts[i]
      if (id !== null) t.is(toBigInt(codec.parse(text, base)), BigInt(id), text)
      else
        t.is(
          codeOf(() => codec.parse(text, base)),
          'ERR_FLAKE_ID',
          text,
        )
    }
  })
}
