// Golden IDs: recorded from the generators that other systems run, and reproduced here bit for bit. A layout must
// encode and decode each entry, and a generator with the entry's options and a clock fixed at the step's time must give
// the recorded IDs.

import test from 'ava'
import { dialect } from '../support/dialects.mjs'
import { FlakeId, hexOf, manualClock, vectors } from '../support/index.mjs'

const { Layout, layouts } = FlakeId
const { encode, sequence } = vectors('golden')
const ran = { encode: new Set(), sequence: new Set() }

// --- sequences ---

function call(flake) {
  try {
    return flake.next().toString('hex')
  } catch (error) {
    return { code: error.code }
  }
}

/** The results in the step's own form: all of them, or a summary of a long run. */
function inFormOf(step, results) {
  if (step.out !== undefined) return { out: results }
  const ids = results.filter((result) => typeof result === 'string')
  const summary = {
    first: ids[0],
    last: ids.at(-1),
    okCount: ids.length,
    firstErrorIndex: results.findIndex((result) => typeof result !== 'string'),
    errorCount: results.length - ids.length,
  }
  return Object.fromEntries(Object.keys(summary).flatMap((key) => (key in step ? [[key, summary[key]]] : [])))
}

const hexOfBigInt = (id) => id.toString(16).padStart(16, '0')

/** n calls; Hazelcast generates its IDs in batches. */
const resultsOf = (layout, flake, n) =>
  layout === 'hazelcast' ? [...flake.takeBigInts(n)].map(hexOfBigInt) : Array.from({ length: n }, () => call(flake))

for (const [number, { name, source, layout, options, steps }] of sequence.entries()) {
  test(`sequence ${number}, ${source}: ${name}`, (t) => {
    const clock = manualClock()
    const flake = new FlakeId({ layout, ...options, clock })
    for (const { now, n, ...expected } of steps) {
      clock.now = now
      t.true(Object.keys(expected).length > 0, 'a step expects something')
      t.deepEqual(inFormOf(expected, resultsOf(layout, flake, n)), expected)
    }
    ran.sequence.add(number)
  })
}

// --- single IDs ---

const choicesOf = ({ epoch, nodes, mode }) => ({ epoch, nodes, mode })

/** The decoded parts of the entry's fields: the tick carries Unix ns, since a number of ms cannot hold them. */
function partsOf({ layout, fields: { timestamp, timestamp_ns: ns, ...rest } }) {
  if (ns === undefined) return { timestamp, date: new Date(timestamp), ...rest }
  return { tick: BigInt(ns) / BigInt(dialect(layout).tickNs), date: msDate(ns), counter: 0, ...rest }
}

const msDate = (ns) => new Date(Number(BigInt(ns) / 1_000_000n))

for (const [number, entry] of encode.entries()) {
  const { name, source, layout: spec, mode, fields, hex, dec, text, base32 } = entry
  const { timestamp, timestamp_ns: ns, counter = 0, ...rest } = fields
  const time = ns === undefined ? timestamp : BigInt(ns)
  const bytes = Buffer.from(hex, 'hex')

  test(`encode ${number}, ${source}: ${name}`, (t) => {
    const layout = new Layout(spec, choicesOf(entry))
    t.is(hexOf(layout.encode({ timestamp: time, counter, ...rest })), hex)
    for (const id of [bytes, BigInt(dec), dec, `0x${hex}`]) t.like(layout.decode(id), partsOf(entry))
    t.is(hexOf(layout.encode(layout.decode(bytes))), hex)
    t.is(FlakeId.format(bytes), dec)
    t.is(layout.decode(bytes).mode, mode)
    ran.encode.add(number)
  })

  test(`encode ${number}, ${source}: ${name}: a generator generates it`, (t) => {
    const flake = new FlakeId({ layout: spec, ...choicesOf(entry), ...rest, clock: () => time })
    t.is(hexOfBigInt(flake.takeBigInts(counter + 1)[counter]), hex)
    t.like(flake.decode(bytes), partsOf(entry))
  })

  if (base32 !== undefined) {
    test(`encode ${number}, ${source}: ${name}: in base 32`, (t) => {
      t.is(FlakeId.format(bytes, 'base32'), base32)
      for (const spelling of [base32, base32.toLowerCase()]) t.deepEqual(FlakeId.parse(spelling, 'base32'), bytes)
    })
  }

  if (text !== undefined) {
    test(`encode ${number}, ${source}: ${name}: as text`, (t) => {
      t.is(layouts[spec].toText(bytes), text)
      t.is(layouts[spec].toText(dec), text)
      t.is(hexOf(layouts[spec].fromText(text)), hex)
    })
  }

  if (spec === 'uniqueid') {
    test(`encode ${number}, ${source}: ${name}: reports its own mode`, (t) => {
      const other = mode === 'spread' ? 'sequential' : 'spread'
      for (const layout of [layouts.uniqueid, new Layout('uniqueid', { mode: other })]) {
        t.like(layout.decode(bytes), { ...partsOf(entry), mode })
        t.is(hexOf(layout.encode({ timestamp: time, counter, mode, ...rest })), hex, 'and parts may name another mode')
      }
    })
  }
}

test.after('no entry was skipped', (t) => {
  t.is(ran.encode.size, encode.length)
  t.is(ran.sequence.size, sequence.length)
})
