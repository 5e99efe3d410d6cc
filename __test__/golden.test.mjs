// Golden IDs: recorded from the generators that other systems run, and to be made again bit for bit. A generator
// with the entry's options and a clock fixed at the step's time must give what stands there.

import test from 'ava'
import { FlakeId, manualClock, vectors } from './support.mjs'

const { encode, sequence } = vectors('golden')
const flakeOnly = (entries) => entries.filter((entry) => entry.layout === 'flake')
const ran = new Set()

function call(flake) {
  try {
    return flake.next().toString('hex')
  } catch (error) {
    return { code: error.code }
  }
}

/** The results in the form in which the step has them: all of them, or a summary of a long run. */
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

for (const [number, { name, source, options, steps }] of flakeOnly(sequence).entries()) {
  test(`sequence ${number}, ${source}: ${name}`, (t) => {
    const clock = manualClock()
    const flake = new FlakeId({ ...options, clock })
    for (const { now, n, ...expected } of steps) {
      clock.now = now
      const results = Array.from({ length: n }, () => call(flake))
      t.deepEqual(inFormOf(expected, results), expected)
    }
    ran.add(number)
  })
}

for (const [number, { name, source, epoch, fields, hex, dec }] of flakeOnly(encode).entries()) {
  test(`encode ${number}, ${source}: ${name}`, (t) => {
    const { timestamp, counter, ...node } = fields
    const parts = new FlakeId({ epoch, clock: () => timestamp }).decode(Buffer.from(hex, 'hex'))
    t.like(parts, { timestamp, counter, ...node })
    t.is(FlakeId.format(Buffer.from(hex, 'hex')), dec)
  })
}

test.after('no sequence was left out', (t) => {
  t.true(ran.size >= 15, `${ran.size} sequences of layout flake ran`)
})
