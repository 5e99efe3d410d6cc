// Copies of our objects: a layout's copy is the same layout, whichever way it was made. The copy of anything else is refused
// where it is used, and JSON of everything can be written.

import test from 'ava'
import fc from 'fast-check'
import { dialect } from '../support/dialects.mjs'
import { FlakeId, holds, numberOf, throwsCode } from '../support/index.mjs'

const { Layout, layouts, Seal } = FlakeId

const COPIES = {
  spread: (given) => ({ ...given }),
  'Object.assign': (given) => Object.assign({}, given),
  JSON: (given) => JSON.parse(JSON.stringify(given)),
  structuredClone,
  'JSON of a copy': (given) => JSON.parse(JSON.stringify(new Layout({ ...given }))),
}

const OFFSETS = [1n, -1n, 10n ** 15n, -(10n ** 15n)]
const OWN = Object.entries({ zero: 1, timestamp: 41, shard: 6, counter: 16 })
const given = [
  ...Object.values(layouts),
  ...Object.keys(layouts).map((name) => new Layout(name, { epoch: 456 })),
  ...[128, 200, 8192].map((nodes) => new Layout('snowcast', { nodes })),
  ...['spread', 'sequential'].map((mode) => new Layout('uniqueid', { mode })),
  ...OFFSETS.flatMap((idOffset) => [
    ...['hazelcast', 'flake', 'chronicle'].map((name) => new Layout(name, { idOffset })),
    new Layout('uniqueid', { mode: 'sequential', idOffset, epoch: 5 }),
    new Layout('snowcast', { nodes: 300, idOffset }),
    new Layout({ fields: OWN, tickMs: 0.1, epoch: 456 }, { idOffset }),
  ]),
  ...['flake', 'hazelcast', 'safe', 'snowcast', 'tid'].map((name) => new Layout(name, { mode: 'spread' })),
  new Layout('snowcast', { nodes: 300, mode: 'spread' }),
  new Layout({ fields: OWN, epoch: 456 }, { mode: 'spread' }),
  new Layout({ fields: OWN }),
  new Layout({ name: 'hazelcast', fields: OWN, tickMs: 10 }), // a dialect's name only
  new Layout({ name: 'snowcast', fields: layouts.snowcast.fields, tickMs: 10 }),
  new Layout({ name: 'hazelcast', fields: layouts.hazelcast.fields }), // with the epoch 0
]

const textOf = (parts) => JSON.stringify(parts)

/** What a call returns, or the code of its error. */
function outcome(call) {
  try {
    return call()
  } catch ({ code }) {
    return code
  }
}

for (const [name, copy] of Object.entries(COPIES)) {
  test(`a layout made from a copy is the same layout: ${name}`, (t) => {
    const ids = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
    for (const layout of given) {
      const again = new Layout(copy(layout))
      t.deepEqual([again, again.end, again.signedEnd], [layout, layout.end, layout.signedEnd])
      const read = (one, id) => outcome(() => textOf(one.decode(id)))
      const write = (one, id) => outcome(() => String(numberOf(one.encode(layout.decode(id)))))
      holds(t, [ids], (id) => read(again, id) === read(layout, id) && write(again, id) === write(layout, id), 20)
    }
  })

  test(`a generator takes a copy as its layout: ${name}`, (t) => {
    const clock = () => Date.UTC(2026, 0, 1)
    for (const layout of given) {
      const node = dialect(layout.name)?.nodes === 1 ? {} : { id: 3 }
      const [own, other] = [layout, copy(layout)].map((layout) => new FlakeId({ ...node, layout, clock }))
      t.is(JSON.stringify(other), JSON.stringify(own))
      const next = (flake) => outcome(() => flake.nextBigInt())
      t.is(next(other), next(own), JSON.stringify(layout))
    }
  })
}

test('a copy that was changed is what it says', (t) => {
  t.is(new Layout({ ...layouts.hazelcast, epoch: 5 }).decode(2n ** 62n).timestamp, 2 ** 40 + 5)
  t.is(new Layout({ ...layouts.hazelcast, idOffset: 3n }).decode(3n).id, 0)
  t.is(new Layout({ ...layouts.hazelcast }, { idOffset: 3n }).idOffset, 3n)
  t.deepEqual(new Layout({ ...layouts.snowcast, ...new Layout('snowcast', { nodes: 128 }) }).nodes, 128)
  const own = new Layout({ ...layouts.uniqueid, name: 'mine', fields: OWN })
  t.deepEqual(own.fields, OWN)
})

test('a copy that contradicts itself is refused', (t) => {
  const wrong = [
    [{ ...layouts.snowcast, nodes: 128 }, 'nodes'],
    [{ ...new Layout('snowcast', { nodes: 128 }), nodes: 256 }, 'nodes'],
    [{ ...layouts.snowcast, nodes: Symbol('many') }, 'nodes'],
    [{ ...layouts.chronicle, mode: 'spread' }, 'mode'],
    [{ ...layouts.flake, mode: 'other' }, 'mode'],
    [{ ...layouts.flake, nodes: 128 }, 'nodes'],
    [{ ...layouts.uniqueid, mode: 'other' }, 'mode'],
    [{ ...layouts.uniqueid, name: 'mine' }, 'fields[3]'],
    [{ ...layouts.uniqueid, tickMs: 10 }, 'fields[3]'],
    [{ ...layouts.chronicle, name: 'mine' }, 'fields'],
    [{ ...layouts.hazelcast, idOffset: '5n' }, 'idOffset'],
    [{ ...layouts.hazelcast, idOffset: 5.5 }, 'idOffset'],
    [{ ...layouts.hazelcast, idOffset: 2n ** 63n }, 'idOffset'],
    [{ ...layouts.uniqueid, idOffset: 5n }, 'idOffset'],
    [{ ...layouts.hazelcast, end: layouts.hazelcast.end }, 'end'],
  ]
  for (const [copy, option] of wrong) {
    t.is(t.throws(() => new Layout(copy), { code: 'ERR_FLAKE_OPTION' }).option, option)
  }
})

test('a copy of a generator or a seal cannot be used as one, or as options', (t) => {
  const flakes = [
    new FlakeId({ id: 7 }),
    new FlakeId({ id: 7, layout: 'hazelcast' }),
    new FlakeId({ id: 7, layout: { fields: OWN } }),
  ]
  for (const flake of flakes) {
    for (const copy of [{ ...flake }, Object.assign({}, flake), JSON.parse(JSON.stringify(flake))]) {
      t.throws(() => new FlakeId(copy), { code: 'ERR_FLAKE_OPTION' })
    }
  }
  const seal = new Seal(Buffer.alloc(32, 7), { tweak: 'table', prefix: 'ord_' })
  t.is(JSON.stringify(seal), '{"prefix":"ord_"}')
  for (const copy of [{ ...seal }, JSON.parse(JSON.stringify(seal))]) {
    throwsCode(t, () => new Seal(copy), 'ERR_FLAKE_OPTION', TypeError)
    throwsCode(t, () => new Seal(Buffer.alloc(32, 7), { ...seal, tweak: 'table' }), 'ERR_FLAKE_OPTION', TypeError)
  }
})

test('JSON of a generator shows what console.log does', (t) => {
  const flake = new FlakeId({ datacenter: 9, worker: 7, epoch: 1577836800000 })
  t.deepEqual(JSON.parse(JSON.stringify(flake)), {
    layout: 'flake',
    datacenter: 9,
    worker: 7,
    id: 295,
    epoch: '2020-01-01T00:00:00.000Z',
    seqMask: 4095,
    maxAheadMs: 0,
    maxWaitMs: 0,
  })
})

test('errors about bigints can be written as JSON', (t) => {
  const errors = [
    t.throws(() => layouts.flake.decode(2n ** 64n)),
    t.throws(() => layouts.flake.encode({ tick: 2n ** 42n })),
    t.throws(() => new Layout('flake', { idOffset: 2n ** 63n })),
    t.throws(() => layouts.flake.decode({ id: 5n })),
  ]
  for (const error of errors) t.regex(JSON.stringify(error), /"code":"ERR_FLAKE_/)
  t.is(errors[0].value, 2n ** 64n)
})
