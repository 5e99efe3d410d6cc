// The layouts of plain JavaScript against those of the core, which the addon's layout answers for: what an ID says, the ID of
// given parts, ranges, UUIDs, ends. On every dialect with its options, and on layouts at random.

import test from 'ava'
import fc from 'fast-check'
import { holds } from '../support/index.mjs'
import { both, codec, DIALECTS, edges, native, specs } from './native.mjs'

const bigintOf = codec.toBigInt
const codeOf = (call) => {
  try {
    call()
  } catch (error) {
    return error.code
  }
}

/** The parts of an ID as the core has them, in the form of decode(). */
function decodedByCore(core, id) {
  const parts = core.unpack(id)
  if (parts === null) return null
  const { tick, counter, node, mode, timestamp, values } = parts
  const nodes = Object.fromEntries(core.nodeFields.map(({ name }, i) => [name, values[i]]))
  return { timestamp, date: new Date(timestamp), tick, counter, id: node, ...(mode && { mode }), ...nodes }
}

function sameDecode(t, { layout, core }, id) {
  const wanted = decodedByCore(core, id)
  if (wanted === null)
    return t.is(
      codeOf(() => layout.decode(id)),
      'ERR_FLAKE_ID',
    )
  t.deepEqual({ ...layout.decode(id) }, wanted)
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(id)
  t.deepEqual({ ...layout.decode(bytes) }, wanted)
}

/** encode() of the parts, by their tick and by their time, against what the core packs. */
function sameEncode(t, { layout, core }, id) {
  const parts = core.unpack(id)
  if (parts === null) return
  const { tick, counter, node, mode, timestamp } = parts
  const packed = core.pack({ tick, counter, node, mode })
  t.is(packed, id)
  const given = { counter, id: node, ...(mode && { mode }) }
  t.is(bigintOf(layout.encode({ ...given, tick })), id)
  const ns = BigInt(layout.epoch) * 1_000_000n + tick * BigInt(core.scale.tickNs)
  if (core.tickOf(ns) === null)
    t.is(
      codeOf(() => layout.encode({ ...given, timestamp: ns })),
      'ERR_FLAKE_TIME_RANGE',
    )
  else t.is(bigintOf(layout.encode({ ...given, timestamp: ns })), id)
  if (Number.isInteger(timestamp) && core.tickOf(ns) !== null && BigInt(timestamp) * 1_000_000n === ns)
    t.is(bigintOf(layout.encode({ ...given, timestamp })), id)
}

function sameUuid(t, { layout, core }, id) {
  const text = core.toUuid(id)
  if (text === null)
    return t.is(
      codeOf(() => layout.toUuid(id)),
      'ERR_FLAKE_ID',
    )
  t.is(layout.toUuid(id), text)
  t.is(bigintOf(layout.fromUuid(text)), id)
  t.is(bigintOf(layout.fromUuid(text.toUpperCase())), id)
  const other = text.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
  t.is(core.readUuid(other).wrong, 'mark')
  t.is(
    codeOf(() => layout.fromUuid(other)),
    'ERR_FLAKE_ID',
  )
}

/** The bounds of a layout, and a range of times. */
function sameBounds(t, { layout, core }) {
  t.is(layout.end.getTime(), new Date(core.end).getTime())
  t.is(layout.signedEnd.getTime(), new Date(core.signedEnd).getTime())
  const times = [layout.epoch, layout.epoch + 1, layout.end - 1, Number(layout.end), 1_700_000_000_123.456, -1]
  for (const ms of times) {
    const ns = BigInt(Math.floor(ms)) * 1_000_000n + BigInt(Math.round((ms - Math.floor(ms)) * 1e6))
    const tick = core.tickOf(ns)
    if (!core.isTimeOrdered)
      t.is(
        codeOf(() => layout.range(ms)),
        'ERR_FLAKE_OPTION',
      )
    else if (tick === null)
      t.is(
        codeOf(() => layout.range(ms)),
        'ERR_FLAKE_TIME_RANGE',
      )
    else t.deepEqual(Object.values(layout.range(ms)).map(bigintOf), core.range(tick, tick))
  }
}

const CHECKS = [sameDecode, sameEncode, sameUuid]

for (const [name, options] of DIALECTS) {
  const shown = Object.entries(options).map(([key, value]) => `${key} ${value}`)
  test(`as the core: ${[name.name ?? name, ...shown].join(', ')}`, (t) => {
    const pair = both(name, options)
    sameBounds(t, pair)
    holds(
      t,
      [edges],
      (id) => {
        for (const check of CHECKS) check(t, pair, id)
        const parts = { tick: id % 2n ** 39n, counter: 0, node: 0 }
        const packed = pair.core.pack(parts)
        if (packed === null)
          t.is(
            codeOf(() => pair.layout.encode({ tick: parts.tick })),
            'ERR_FLAKE_OPTION',
          )
        else for (const check of CHECKS) check(t, pair, packed ^ (id & 0xffn))
        return true
      },
      40,
    )
  })
}

test('as the core: own fields under the name of a dialect are own fields', (t) => {
  const { fields } = codec.layouts.flake
  for (const name of Object.keys(codec.layouts)) {
    const pair = both({ name, epoch: 5, fields }, {})
    sameBounds(t, pair)
    for (const id of [0n, 1n, 7_928_662_235_423_965_185n, 2n ** 64n - 1n])
      for (const check of CHECKS) check(t, pair, id)
  }
})

test('as the core: layouts at random, with offsets', (t) => {
  holds(
    t,
    [specs, fc.constantFrom(undefined, 5n, -5n, 2n ** 62n), edges, edges],
    (spec, idOffset, a, b) => {
      let pair
      try {
        pair = both(spec, { idOffset })
      } catch (error) {
        if (error.code !== 'ERR_FLAKE_OPTION') throw error
        return idOffset !== undefined || spec.epoch !== 0 // not in the order of time, or too late for a Date
      }
      sameBounds(t, pair)
      for (const id of [a, b]) for (const check of CHECKS) check(t, pair, id)
      return true
    },
    600,
  )
})

/** Fields that may be impossible. */
const anyFields = fc.array(
  fc.tuple(fc.constantFrom('timestamp', 'counter', 'zero', 'node', 'shard', ''), fc.integer({ min: 1, max: 63 })),
  { minLength: 1, maxLength: 5 },
)
const halves = fc.constantFrom(
  [
    ['timestamp', 63],
    ['counter', 1],
  ],
  [
    ['timestamp', 10],
    ['counter', 54],
  ],
  [
    ['timestamp', 10],
    ['node', 30],
    ['shard', 24],
  ],
  [
    ['timestamp', 20],
    ['node', 22],
    ['node', 22],
  ],
  [
    ['counter', 32],
    ['node', 32],
  ],
)

test('as the core: what is wrong with fields', (t) => {
  let refused = 0
  holds(t, [fc.oneof(anyFields, halves)], (fields) => {
    const [names, widths] = [0, 1].map((i) => fields.map((field) => field[i]))
    const problem = native.specProblem({ tickNs: 1e6, names, widths })
    if (problem === null) return Boolean(new codec.Layout({ fields }))
    refused++
    const option = typeof problem.field === 'number' ? `fields[${problem.field}]` : 'fields'
    const error = t.throws(() => new codec.Layout({ fields }), { code: 'ERR_FLAKE_OPTION' })
    return error.message === `${option} must ${problem.must}` && error.option === option
  })
  t.true(refused > 10)
})

test('as the core: texts of numbers of any length', (t) => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 })
  holds(
    t,
    [bytes, fc.constantFrom(...native.bases())],
    (id, base) => codec.format(id, base) === native.digits(id, base),
  )
})

const near = fc.string({ unit: fc.constantFrom(...'0129azAZoOiIlLuU-_ K'), maxLength: 14 })

test('as the core: what a text spells', (t) => {
  let read = 0
  holds(
    t,
    [fc.oneof(near, edges.map(String)), edges, fc.constantFrom(...native.bases())],
    (text, id, base) => {
      const spelt = codec.format(id, base)
      for (const each of [text, spelt, spelt.toLowerCase(), `0${spelt}`, `${spelt}0`, spelt.slice(1)]) {
        const wanted = native.parse(each, base)
        if (wanted === null)
          t.is(
            codeOf(() => codec.parse(each, base)),
            'ERR_FLAKE_ID',
            `${each} ${base}`,
          )
        else {
          read++
          t.is(bigintOf(codec.parse(each, base)), wanted, `${each} ${base}`)
        }
      }
      return true
    },
    500,
  )
  t.true(read > 100)
})
