// The addon's layout beside the one of plain JavaScript, and layouts to compare them on.

import { createRequire } from 'node:module'
import fc from 'fast-check'

const require = createRequire(import.meta.url)
export const native = require('../../lib/native/index.js')
export const codec = require('../../codec.js')
const { factsOf } = require('../../lib/codec/layout.js')
const { nativeLayout } = require('../../lib/native/hot.js')

/** A layout of plain JavaScript with the addon's for the same. */
export function both(spec, options) {
  const layout = new codec.Layout(spec, options)
  return { layout, core: nativeLayout(factsOf(layout)) }
}

const OFFSETS = [1n, -1n, 10n ** 15n, -(10n ** 15n), 2n ** 62n, -(2n ** 62n), 2n ** 63n - 1n, -(2n ** 63n)]
const EPOCHS = [0, 1, -1, 1_600_000_000_000, -62_135_596_800_000]

/** Its last times are beyond 2^53 ms, where a number would no longer hold them. */
const HOURS = {
  name: 'hours',
  tickMs: 3_600_000,
  epoch: 1,
  fields: [
    ['timestamp', 42],
    ['node', 10],
    ['counter', 12],
  ],
}

/** Dialects whose highest bits are 0: with an offset below minus all their IDs, none is left. */
const LOWEST = {
  'chronicle-micros': 2n ** 62n,
  safe: 2n ** 53n,
  hazelcast: 2n ** 62n,
  twitter: 2n ** 62n,
  sonyflake: 2n ** 62n,
}
const hasIds = (name, idOffset) => idOffset >= -(LOWEST[name] ?? 2n ** 63n) || idOffset === 0n

/** Every dialect with its options. */
export const DIALECTS = Object.keys(codec.layouts).flatMap((name) => {
  const offsets = OFFSETS.filter((idOffset) => hasIds(name, idOffset)).map((idOffset) => [name, { idOffset }])
  const all = [[name, {}], ...EPOCHS.map((epoch) => [name, { epoch }]), ...offsets]
  if (name === 'snowcast') return [...all, ...[128, 129, 1000, 8192].map((nodes) => [name, { nodes, epoch: 5 }])]
  if (name !== 'uniqueid') return all
  const sequential = offsets.map(([, options]) => [name, { ...options, mode: 'sequential' }])
  return [[HOURS, {}], [name, {}], [name, { mode: 'spread', epoch: 7 }], [name, { mode: 'sequential' }], ...sequential]
})

/** 64 bits in pieces: fields in any order, with zero bits anywhere. */
const widths = fc
  .array(fc.integer({ min: 1, max: 63 }), { minLength: 1, maxLength: 8 })
  .map((cuts) => [...new Set([0, ...cuts, 64])].sort((a, b) => a - b))
  .map((cuts) => cuts.slice(1).map((cut, i) => cut - cuts[i]))
  .filter((all) => all.every((width) => width < 64))

const NAMES = ['counter', 'node', 'shard', 'zero', 'zero', 'rack', 'zero', 'tenant']

const fields = widths.chain((all) =>
  fc.shuffledSubarray(NAMES, { minLength: all.length - 1, maxLength: all.length - 1 }).chain((names) =>
    fc.nat({ max: all.length - 1 }).map((at) => {
      const named = [...names.slice(0, at), 'timestamp', ...names.slice(at)]
      return all.map((width, i) => [named[i], width])
    }),
  ),
)

const isNode = ([name]) => !['timestamp', 'counter', 'zero'].includes(name)
const bitsOf = (some) => some.reduce((sum, [, width]) => sum + width, 0)
const isPossible = (all) =>
  bitsOf(all.filter(isNode)) <= 53 && all.every(([name, width]) => name !== 'counter' || width <= 53)

/** Layouts of users, all of them possible. */
export const specs = fc.record({
  fields: fields.filter(isPossible),
  tickMs: fc.constantFrom(1, 10, 1000, 0.1, 0.0001, 0.000001, 1.5, 60_000, 3_600_000, 0.003),
  epoch: fc.constantFrom(...EPOCHS),
})

/** IDs: any bits, and bits at the edges. */
export const edges = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.nat({ max: 63 }).map((bit) => 2n ** BigInt(bit)),
  fc.nat({ max: 64 }).map((bit) => 2n ** BigInt(bit) - 1n),
)
