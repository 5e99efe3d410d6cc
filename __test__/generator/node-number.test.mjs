// Where a generator's node number comes from: options, the environment, the host name, and the offsets that Hazelcast
// adds. Two sources that could disagree are an error, and an error from the environment names the variable.

import os from 'node:os'
import test from 'ava'
import fc from 'fast-check'
import { DIALECTS, dialect } from '../support/dialects.mjs'
import { FlakeId, jsonOfChild, manualClock, numberOf, SOME_TIME, throwsCode } from '../support/index.mjs'

const { Layout } = FlakeId
const VARIABLE = /^FLAKEFORGE_/

/** The result of `call` in this environment. Nothing in this file waits, so no other test sees it. */
function within(environment, call) {
  const before = Object.entries(process.env).filter(([name]) => VARIABLE.test(name))
  const clear = () => {
    for (const name of Object.keys(process.env)) if (VARIABLE.test(name)) delete process.env[name]
  }
  clear()
  Object.assign(process.env, environment)
  try {
    return call()
  } finally {
    clear()
    Object.assign(process.env, Object.fromEntries(before))
  }
}

const nodeIn = (environment, options) => within(environment, () => new FlakeId(options).id)

/** Asserts that a generator is rejected in this environment, with an error that names the wrong value. */
function refused(t, environment, options, named, value) {
  const error = t.throws(() => nodeIn(environment, options), { code: 'ERR_FLAKE_OPTION' })
  t.true(error instanceof RangeError || error instanceof TypeError)
  t.is(error.option, named)
  t.is(error.value, value)
  t.true(error.message.includes(named), error.message)
  return error
}

// --- the environment ---

test('without options the environment sets it, and without both it is 0', (t) => {
  t.is(nodeIn({}), 0)
  t.is(nodeIn({ FLAKEFORGE_ID: '77' }), 77)
  t.is(nodeIn({ FLAKEFORGE_DATACENTER: '9', FLAKEFORGE_WORKER: '7' }), (9 << 5) | 7)
  t.is(nodeIn({ FLAKEFORGE_WORKER: '7' }), 7)
  t.is(nodeIn({ FLAKEFORGE_DATACENTER: '9' }), 9 << 5)
  t.is(nodeIn({ FLAKEFORGE_ID: '1023' }), 1023)
  t.is(nodeIn({ FLAKEFORGE_ID: '007' }), 7)
})

test('the variables have the names of the fields', (t) => {
  const lowest = DIALECTS.flatMap(({ name, nodeFields }) => nodeFields.slice(-1).map((field) => [name, ...field]))
  for (const [layout, field, max] of lowest) {
    const name = `FLAKEFORGE_${field.toUpperCase()}`
    t.is(nodeIn({ [name]: String(max) }, { layout }), max)
    refused(t, { [name]: String(max + 1) }, { layout }, name, String(max + 1))
    t.is(nodeIn({ FLAKEFORGE_ID: '5' }, { layout }), 5)
  }
  t.is(nodeIn({ FLAKEFORGE_GENERATOR: '2047', FLAKEFORGE_CLUSTER: '1' }, { layout: 'uniqueid' }), (2047 << 4) | 1)
  const layout = new Layout({ fields: Object.entries({ timestamp: 41, pod: 13, counter: 10 }) })
  t.is(nodeIn({ FLAKEFORGE_POD: '55' }, { layout }), 55)
  const { emitWarning } = process
  process.emitWarning = (message) => t.regex(message, /^FLAKEFORGE_WORKER is ignored/)
  t.is(nodeIn({ FLAKEFORGE_WORKER: '5' }, { layout }), 0, 'a field of another layout is ignored')
  process.emitWarning = emitWarning
})

test('named fields from the environment read back as those from options do', (t) => {
  const flake = within({ FLAKEFORGE_DATACENTER: '9', FLAKEFORGE_WORKER: '7' }, () => new FlakeId())
  t.like(flake, { datacenter: 9, worker: 7, id: 295 })
  t.like(
    within({ FLAKEFORGE_ID: '295' }, () => new FlakeId()),
    { datacenter: undefined, worker: undefined, id: 295 },
  )
})

test('options win', (t) => {
  const all = { FLAKEFORGE_ID: '77', FLAKEFORGE_DATACENTER: '1', FLAKEFORGE_WORKER: '2' }
  t.is(nodeIn(all, { id: 5 }), 5)
  t.is(nodeIn(all, { id: 0 }), 0)
  t.is(nodeIn(all, { datacenter: 9, worker: 7 }), 295)
  t.is(nodeIn({ FLAKEFORGE_ID: '77' }, { worker: 3 }), 3, 'the whole number is not read where a field is given')
  t.is(nodeIn({ FLAKEFORGE_ID: 'nonsense' }, { worker: 3 }), 3)
  t.is(nodeIn({ FLAKEFORGE_WORKER: 'nonsense' }, { id: 3 }), 3)
  t.is(nodeIn({ FLAKEFORGE_WORKER: 'nonsense' }, { worker: 3 }), 3)
})

test('fields fall back one by one', (t) => {
  const both = { FLAKEFORGE_DATACENTER: '1', FLAKEFORGE_WORKER: '2' }
  t.is(nodeIn(both, { datacenter: 9 }), (9 << 5) | 2)
  t.is(nodeIn(both, { worker: 7 }), (1 << 5) | 7)
  t.is(nodeIn(both, { worker: 0 }), 1 << 5)
  t.is(nodeIn(both, { worker: null }), (1 << 5) | 2)
  t.is(nodeIn(both, { worker: undefined, id: null }), (1 << 5) | 2)
})

test('the whole number and a field in the environment are an error that names the variable', (t) => {
  const error = refused(t, { FLAKEFORGE_ID: '7', FLAKEFORGE_WORKER: '7' }, {}, 'FLAKEFORGE_WORKER', '7')
  t.true(error.message.includes('FLAKEFORGE_ID'))
  refused(t, { FLAKEFORGE_ID: '7', FLAKEFORGE_DATACENTER: '0' }, {}, 'FLAKEFORGE_DATACENTER', '0')
  refused(t, { FLAKEFORGE_ID: '7', FLAKEFORGE_HOST: '7' }, { layout: 'chronicle' }, 'FLAKEFORGE_HOST', '7')
  t.is(nodeIn({ FLAKEFORGE_ID: '7', FLAKEFORGE_HOST: '7' }), 7, 'flake has no such field')
})

for (const value of ['', ' ', 'x', '7x', ' 7', '7 ', '1.5', '-1', '1e3', '0x7', '32', '99999999999999999999']) {
  test(`invalid text in the environment: the error names the variable: '${value}'`, (t) => {
    refused(t, { FLAKEFORGE_WORKER: value }, {}, 'FLAKEFORGE_WORKER', value)
    refused(t, { FLAKEFORGE_DATACENTER: value }, { worker: 1 }, 'FLAKEFORGE_DATACENTER', value)
    if (value !== '32') refused(t, { FLAKEFORGE_ID: value }, {}, 'FLAKEFORGE_ID', value)
  })
}

test('the bounds of the whole number apply in the environment', (t) => {
  refused(t, { FLAKEFORGE_ID: '1024' }, {}, 'FLAKEFORGE_ID', '1024')
  refused(t, { FLAKEFORGE_ID: '100' }, { layout: 'chronicle' }, 'FLAKEFORGE_ID', '100')
})

test('a process reads its real environment', async (t) => {
  const source = `
    process.env.FLAKEFORGE_DATACENTER = '3'
    const flake = new FlakeId({ worker: 4 })
    console.log(JSON.stringify([flake.id, flake.decode(flake.next()).id]))`
  t.deepEqual(await jsonOfChild(t, source), [100, 100])
})

// --- the ordinal of a StatefulSet ---

/** The result of `call` on a host with this name. */
function onHost(name, call) {
  const { hostname } = os
  os.hostname = () => name
  try {
    return call()
  } finally {
    os.hostname = hostname
  }
}

test("id 'ordinal': the number at the end of the host name", (t) => {
  for (const [name, id] of [
    ['orders-3', 3],
    ['orders-0', 0],
    ['orders-eu-1023', 1023],
    ['a-1-2', 2],
    ['a-007', 7],
  ]) {
    for (const given of [
      [{}, { id: 'ordinal' }],
      [{ FLAKEFORGE_ID: 'ordinal' }],
      [{ FLAKEFORGE_ID: '9' }, { id: 'ordinal' }],
    ]) {
      const found = onHost(name, () => nodeIn(...given))
      t.is(found, id)
    }
  }
})

test("id 'ordinal': a host name without a number, or with one too large, is an error that says so", (t) => {
  for (const name of ['web', 'web3', 'web-', 'orders-3a', '', '-']) {
    for (const [environment, options] of [
      [{}, { id: 'ordinal' }],
      [{ FLAKEFORGE_ID: 'ordinal' }, {}],
    ]) {
      const error = onHost(name, () => t.throws(() => nodeIn(environment, options), { code: 'ERR_FLAKE_OPTION' }))
      t.true(error.message.includes(`'${name}'`), error.message)
    }
  }
  const tooLarge = onHost('orders-1024', () =>
    t.throws(() => nodeIn({}, { id: 'ordinal' }), { code: 'ERR_FLAKE_OPTION' }),
  )
  t.is(tooLarge.option, 'id')
  t.regex(tooLarge.message, /1024/)
  t.regex(tooLarge.message, /1023/)
})

test("id 'ordinal' is the whole node number: a field next to it is rejected, and so is 'ordinal' for a field", (t) => {
  onHost('orders-3', () => {
    t.throws(() => nodeIn({}, { id: 'ordinal', worker: 3 }), { code: 'ERR_FLAKE_OPTION' })
    t.throws(() => nodeIn({ FLAKEFORGE_ID: 'ordinal', FLAKEFORGE_WORKER: '3' }), { code: 'ERR_FLAKE_OPTION' })
    refused(t, { FLAKEFORGE_WORKER: 'ordinal' }, {}, 'FLAKEFORGE_WORKER', 'ordinal')
    for (const id of ['Ordinal', 'ordinal ', 'host']) t.throws(() => nodeIn({}, { id }), { code: 'ERR_FLAKE_OPTION' })
  })
})

// --- nodeOffset ---

test('nodeOffset is added to the node number, whatever its source', (t) => {
  t.is(nodeIn({}, { layout: 'hazelcast', node: 5, nodeOffset: 100 }), 105)
  t.is(nodeIn({}, { layout: 'hazelcast', node: 5, nodeOffset: '100' }), 105)
  t.is(nodeIn({ FLAKEFORGE_NODE: '5' }, { layout: 'hazelcast', nodeOffset: 100 }), 105)
  t.is(nodeIn({}, { layout: 'hazelcast', nodeOffset: 65535 }), 65535)
  t.is(nodeIn({}, { id: 1000, nodeOffset: -1000 }), 0)
  t.is(nodeIn({}, { worker: 5, nodeOffset: 0 }), 5)
  t.is(nodeIn({}, { worker: 5, nodeOffset: null }), 5)
  const flake = new FlakeId({ layout: 'hazelcast', node: 5, nodeOffset: 100, clock: manualClock() })
  t.like(flake.decode(flake.next()), { node: 105, id: 105 })
})

test('nodeOffset: a sum out of range is an error', (t) => {
  for (const [node, nodeOffset] of [
    [65535, 1],
    [0, 65536],
    [5, -6],
    [0, -1],
    [1, 2 ** 53 - 1],
  ]) {
    const options = { layout: 'hazelcast', node, nodeOffset }
    const error = throwsCode(t, () => nodeIn({}, options), 'ERR_FLAKE_OPTION', RangeError)
    t.is(error.option, 'nodeOffset')
    t.is(error.value, nodeOffset)
    t.regex(error.message, new RegExp(`\\b${node}\\b.*\\b65535\\b`))
  }
})

test('nodeOffset and plain node numbers with the same sum share their numbers', (t) => {
  const [a, b] = [new FlakeId({ id: 700, maxWaitMs: 1000 }), new FlakeId({ id: 600, nodeOffset: 100, maxWaitMs: 1000 })]
  const ids = Array.from({ length: 20_000 }, (_, i) => (i % 2 ? a : b).nextBigInt())
  t.is(new Set(ids).size, 20_000)
})

// --- idOffset ---

const LARGEST_OFFSET = 2n ** 52n
const AFTER_EPOCHS = Date.UTC(2026, 0) // of all layouts

/** Those whose IDs are in the order of time, have a hundred nodes, and are large enough for a negative offset. */
const WITH_OFFSET = DIALECTS.map(({ name }) => name).filter((name) => {
  const { nodes } = dialect(name)
  const first = numberOf(FlakeId.layouts[name].encode({ timestamp: AFTER_EPOCHS }))
  return name !== 'uniqueid' && nodes > 99 && first > LARGEST_OFFSET
})

test('idOffset is added to every ID, and decode subtracts it again', (t) => {
  const layouts = fc.constantFrom(...WITH_OFFSET)
  const offsets = fc.bigInt({ min: -LARGEST_OFFSET, max: LARGEST_OFFSET })
  const property = fc.property(layouts, offsets, fc.nat({ max: 99 }), (layout, idOffset, id) => {
    const options = { layout, id, clock: () => AFTER_EPOCHS, maxAheadMs: 1000 }
    const [plain, moved] = [new FlakeId(options), new FlakeId({ ...options, idOffset })]
    const ids = plain.takeBigInts(100)
    t.deepEqual(
      [...moved.takeBigInts(99), numberOf(moved.next())],
      [...ids].map((each) => each + idOffset),
    )
    for (const each of [ids[0], ids[99]]) t.deepEqual(moved.decode(each + idOffset), plain.decode(each))
    const parts = plain.decode(ids[50])
    t.is(numberOf(moved.layout.encode(parts)), ids[50] + idOffset)
    t.is(moved.nextString(), String(plain.nextBigInt() + idOffset))
    const bounds = [plain, moved].map((flake) => flake.layout.range(AFTER_EPOCHS, AFTER_EPOCHS + 5))
    t.is(numberOf(bounds[1].min), numberOf(bounds[0].min) + idOffset)
    t.is(numberOf(bounds[1].max), numberOf(bounds[0].max) + idOffset)
  })
  t.notThrows(() => fc.assert(property, { numRuns: 200 }))
})

// The offset may be the cause, so the clock is not blamed for it.
const EARLY =
  /is too early for .* which begins at .* If the clock is right, use an idOffset that is closer to 0\. .* changes all IDs\.$/
const LATE =
  /is too late for .* which ends at .* A smaller idOffset is safe only if no ID has been generated yet, .* all IDs\.$/

test('idOffset: times at which an ID would not fit 64 bits are out of range, to the exact ms', (t) => {
  const at = (now, idOffset) => new FlakeId({ idOffset, clock: () => now }).nextBigInt()
  const tick = 1n << 22n
  t.is(at(1000, -1000n * tick), 0n)
  t.is(at(2 ** 42 - 1, 0n), 2n ** 64n - tick)
  t.is(at(2 ** 42 - 2, tick), 2n ** 64n - tick)
  t.is(at(2 ** 42 - 1001, 1000n * tick), 2n ** 64n - tick)
  for (const [now, idOffset] of [
    [999, -1000n * tick],
    [0, -1n],
    [1000, -1000n * tick - 1n],
    [2 ** 42 - 1, 1n],
    [2 ** 42 - 1, tick],
    [2 ** 42 - 2, tick + 1n],
    [2 ** 42 - 1000, 1000n * tick],
    [SOME_TIME, -(2n ** 63n)],
  ]) {
    const error = throwsCode(t, () => at(now, idOffset), 'ERR_FLAKE_TIME_RANGE', RangeError)
    t.is(error.timestamp, now)
    t.regex(error.message, idOffset < 0n ? EARLY : LATE)
    t.true(error.message.includes(` with idOffset ${idOffset}n, which `))
    t.throws(() => new Layout('flake', { idOffset }).encode({ timestamp: now }), { code: 'ERR_FLAKE_TIME_RANGE' })
  }
  const { layout } = new FlakeId({ idOffset: tick })
  t.is(layout.end.getTime(), 2 ** 42 - 1)
})

test('idOffset: a value with which no ID fits is rejected', (t) => {
  for (const [name, idOffset] of [
    ['safe', -(2n ** 63n)],
    ['safe', -(2n ** 53n)],
    ['chronicle-micros', -(2n ** 63n)],
  ]) {
    for (const make of [() => new Layout(name, { idOffset }), () => new FlakeId({ layout: name, idOffset })]) {
      t.like(throwsCode(t, make, 'ERR_FLAKE_OPTION', RangeError), { option: 'idOffset', value: idOffset })
    }
  }
  t.is(new Layout('safe', { idOffset: -(2n ** 53n) + 4096n }).name, 'safe', 'the last tick fits')
})
