// `npm run codec:vectors` writes __test__/vectors/codec.jsonl: questions about layouts, IDs and texts, each followed by the answer
// of the core, which core/examples/codec.rs gives. The codec in plain JavaScript must say the same; a test of the core fails
// where the answers are no longer its own.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'

const codec = createRequire(import.meta.url)('flakeforge/codec')
const ROOT = new URL('../../', import.meta.url)

const BASES = ['dec', 'hex', 'bin', 'oct', 'base32', 'base36', 'base58', 'base62']
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
const DIALECTS = Object.keys(codec.layouts).flatMap((name) => {
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
const specs = fc.record({
  fields: fields.filter(isPossible),
  tickMs: fc.constantFrom(1, 10, 1000, 0.1, 0.0001, 0.000001, 1.5, 60_000, 3_600_000, 0.003),
  epoch: fc.constantFrom(...EPOCHS),
})

/** IDs: any bits, and bits at the edges. */
const edges = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.nat({ max: 63 }).map((bit) => 2n ** BigInt(bit)),
  fc.nat({ max: 64 }).map((bit) => 2n ** BigInt(bit) - 1n),
)

/** Fields that may be impossible. */
const anyFields = fc.array(
  fc.tuple(fc.constantFrom('timestamp', 'counter', 'zero', 'node', 'shard', ''), fc.integer({ min: 1, max: 63 })),
  { minLength: 1, maxLength: 5 },
)
const halves = [
  'timestamp 63, counter 1',
  'timestamp 10, counter 54',
  'timestamp 10, node 30, shard 24',
  'timestamp 20, node 22, node 22',
  'counter 32, node 32',
  'timestamp 42, node 10, sequence 12',
  'timestamp 42, Seq_No 12, counter 10',
  'timestamp 41, node 10, counter 12',
].map((text) => text.split(', ').map((field) => [field.split(' ')[0], Number(field.split(' ')[1])]))

const near = fc.string({ unit: fc.constantFrom(...'0129azAZoOiIlLuU-_ K'), maxLength: 14 })

/** The same ones each time. */
const some = (arbitrary, count) => fc.sample(arbitrary, { numRuns: count, seed: 7 })

/** The time of an ID as a number of ms; where it is none of the layout, a time that may be out of range. */
function momentOf(layout, id) {
  try {
    return layout.decode(id).timestamp
  } catch {
    return Number(id % 2n ** 41n) / 3
  }
}

/** A number and those that are next to it. */
function besideOf(ms) {
  const bits = new BigInt64Array(new Float64Array([ms]).buffer)
  return ms === 0 ? [0] : [0n, 1n, -1n].map((step) => new Float64Array(new BigInt64Array([bits[0] + step]).buffer)[0])
}

/** What is asked of one layout. */
function about(layout, request, ids) {
  const ticks = ids.map((id) => id % 2n ** 39n)
  const times = [layout.epoch, layout.epoch + 1, layout.end - 1, Number(layout.end), 1_700_000_000_123.456, -1]
  const beside = ticks.flatMap((tick, i) => {
    try {
      return codec.toBigInt(layout.encode({ tick })) ^ (ids[i] & 0xffn)
    } catch {
      return []
    }
  })
  const ns = times.map((ms) => BigInt(Math.floor(ms)) * 1_000_000n + BigInt(Math.round((ms - Math.floor(ms)) * 1e6)))
  const moments = [...times, ...ids.map((id) => momentOf(layout, id)), ...ids.map((_, i) => layout.epoch + i / 7)]
  const texts = [[...ids, ...beside], ticks, ns, moments.flatMap(besideOf)].map((values) => values.map(String))
  return { layout: request, ids: texts[0], ticks: texts[1], times: texts[2], moments: texts[3] }
}

const requestOf = ({ name, spec, epoch, options: { idOffset, nodes, mode } = {} }) =>
  JSON.parse(JSON.stringify({ name, spec, epoch, nodes, mode, idOffset: idOffset?.toString() }))

function ofDialect([name, { epoch, ...options }], i) {
  const own = typeof name === 'object'
  const layout = new codec.Layout(name, { epoch, ...options })
  const spec = own ? { tickNs: name.tickMs * 1e6, fields: name.fields } : undefined
  const request = requestOf({ name: own ? name.name : name, spec, epoch: own ? name.epoch : epoch, options })
  return about(layout, request, fc.sample(edges, { numRuns: 6, seed: i }))
}

/** A layout of somebody's own, if the codec takes it: it refuses more than the core, such as times beyond a Date. */
function ofSpec([{ fields, tickMs, epoch }, idOffset, ids]) {
  try {
    const layout = new codec.Layout({ fields, tickMs, epoch }, { idOffset })
    const spec = { tickNs: Math.round(tickMs * 1e6), fields }
    return [about(layout, requestOf({ name: 'own', spec, epoch, options: { idOffset } }), ids)]
  } catch (error) {
    if (error.code !== 'ERR_FLAKE_OPTION') throw error
    return []
  }
}

function ofBase(base, i) {
  const numbers = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 40 }), { numRuns: 12, seed: i })
  const texts = fc.sample(fc.oneof(near, edges.map(String)), { numRuns: 24, seed: i })
  const spelt = fc.sample(edges, { numRuns: 12, seed: i }).map((id) => codec.format(id, base))
  const beside = spelt.flatMap((text) => [text, text.toLowerCase(), `0${text}`, `${text}0`, text.slice(1)])
  return { base, numbers: numbers.map((bytes) => [...bytes]), texts: [...texts, ...beside] }
}

/** A user's own fields under the name of each dialect. */
const named = Object.keys(codec.layouts).map((name) => [
  { name, tickMs: 1, epoch: 5, fields: codec.layouts.flake.fields },
  {},
])
const offsets = fc.constantFrom(undefined, 5n, -5n, 2n ** 62n)

const questions = [
  { dialects: true },
  { specs: [...halves, ...some(anyFields, 150)].map((fields) => ({ tickNs: 1e6, fields })) },
  ...BASES.map(ofBase),
  ...[...DIALECTS, ...named].map(ofDialect),
  ...some(fc.tuple(specs, offsets, fc.array(edges, { minLength: 2, maxLength: 2 })), 150).flatMap(ofSpec),
].map((question) => JSON.stringify(question))

const command = ['run', '--quiet', '--locked', '--package', 'flakeforge-core', '--example', 'codec']
const input = questions.join('\n')
const answers = execFileSync('cargo', command, { cwd: ROOT, input, maxBuffer: 2 ** 28, encoding: 'utf8' })
  .trim()
  .split('\n')
writeFileSync(
  new URL('__test__/vectors/codec.jsonl', ROOT),
  questions.map((question, i) => `${question}\n${answers[i]}\n`).join(''),
)
