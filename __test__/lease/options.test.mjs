// Options of FlakeId.join(): what is rejected before the store is asked, how slots become node numbers, and what the
// members of a group must agree on.

import test from 'ava'
import { WITH_NODES } from '../support/dialects.mjs'
import { FlakeId, jsonOfChild, lease, throwsCode } from '../support/index.mjs'
import { closeAfter, joined, leaseOptions, tryJoin } from '../support/lease.mjs'
import { LEASE, MemoryStore } from '../support/store.mjs'
import { until } from '../support/waits.mjs'

const MOST = Number.MAX_SAFE_INTEGER

async function isRefused(t, options, option, Type = RangeError) {
  const store = new MemoryStore()
  const error = await t.throwsAsync(tryJoin(store, options), { code: 'ERR_FLAKE_OPTION', instanceOf: Type })
  t.is(error?.option, option, error?.message)
  t.is(store.calls.length, 0, 'the store was asked')
  return error
}

// --- rejected options ---

const OUT_OF_RANGE = {
  ttlMs: [1999, 60_001, 0, -1, 2000.5, Number.NaN, Number.POSITIVE_INFINITY, '1999', '2e3', ''],
  skewMs: [-1, 60_001, 0.5, Number.NaN, '-1', 'much'],
  waitMs: [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, MOST + 1, '-1', ''],
  slots: [0, -1, 1025, 1.5, Number.NaN, '0', '1025', '0x10'],
  group: ['', 'a'.repeat(129), 'a\nb', 'a\0b', 'a\u007fb', '{a', 'a}'],
  host: ['', 'h'.repeat(256), 'a\0b', '\0'],
  seqMask: [0, 2, 4096],
  worker: [-1, 32],
  nodeOffset: [-1, 1024, 0.5],
  epoch: [Date.now() + 1e9],
}

for (const [option, values] of Object.entries(OUT_OF_RANGE)) {
  test.serial(`${option}: values out of bounds are rejected`, async (t) => {
    for (const value of values) {
      const error = await isRefused(t, { ...LEASE, [option]: value }, option)
      t.is(error?.value, value)
    }
  })
}

for (const option of ['ttlMs', 'skewMs', 'waitMs', 'slots', 'group', 'host', 'worker', 'nodeOffset']) {
  test.serial(`${option}: values of another type are rejected`, async (t) => {
    const values = [true, {}, [], () => 7, Symbol('7'), 7n, ...(['group', 'host'].includes(option) ? [7] : [])]
    for (const value of values) await isRefused(t, { ...LEASE, [option]: value }, option, TypeError)
  })
}

test.serial('id, shared and clock are rejected here, whatever their values', async (t) => {
  const wrong = { id: [7, '7', 'ordinal', {}], shared: ['/tmp/x', ''], clock: [() => 7, Date.now, 7] }
  for (const [option, values] of Object.entries(wrong)) {
    for (const value of values) {
      const error = await isRefused(t, { ...LEASE, [option]: value }, option, TypeError)
      t.regex(error?.message, /join\(\)/)
    }
  }
})

test.serial('id, shared and clock may be absent in either way', async (t) => {
  const { flake } = await joined(t, { id: undefined, shared: null, clock: null, group: null, slots: null, host: null })
  t.is(flake.slot, 0)
})

test.serial('an unknown option is rejected', async (t) => {
  const misspelt = await isRefused(t, { ...LEASE, gruop: 7 }, 'gruop', TypeError)
  t.is(misspelt.message, "Unknown option 'gruop'. Did you mean 'group'?")
  const { message } = await isRefused(t, { ...LEASE, zzz: 7 }, 'zzz', TypeError)
  const named = message.slice(message.indexOf(' are ') + 5, -1).split(', ')
  for (const name of ['group', 'slots', 'ttlMs', 'skewMs', 'waitMs', 'host', 'worker'])
    t.true(named.includes(name), name)
  for (const name of ['id', 'shared', 'clock', 'nodes']) t.false(named.includes(name), name)
  await isRefused(t, { ...LEASE, layout: 'hazelcast', worker: 1, maxAheadMs: 0 }, 'worker', TypeError)
})

test.serial("another package's name of an option leads to ours, and a node number to the slot", async (t) => {
  for (const [name, meant] of Object.entries({
    namespace: 'group',
    key_prefix: 'group',
    maxNodes: 'slots',
    leaseTime: 'ttlMs',
    timeout: 'waitMs',
    hostname: 'host',
    workerId: 'worker',
    customEpoch: 'epoch',
    mod: 'mode',
  })) {
    const { message } = await isRefused(t, { ...LEASE, [name]: 7 }, name, TypeError)
    t.is(message, `Unknown option '${name}'. Did you mean '${meant}'?`)
  }
  for (const options of [{ machineId: 7 }, { node: 7 }, { layout: 'hazelcast', nodeId: 7, maxAheadMs: 0 }]) {
    const { message } = await isRefused(
      t,
      { ...LEASE, ...options },
      Object.keys(options).find((name) => options[name] === 7),
      TypeError,
    )
    t.regex(message, /cannot be used with join\(\): the slot determines the node number$/)
  }
})

test.serial('options that are not an object are rejected', async (t) => {
  for (const options of [7, 'default', true, 7n, [], () => ({})]) {
    const error = await t.throwsAsync(tryJoin(new MemoryStore(), options), { code: 'ERR_FLAKE_OPTION' })
    t.is(error?.option, 'options')
  }
})

test.serial('an invalid store is rejected', async (t) => {
  for (const store of [7, true, 7n, () => {}, Symbol('store'), {}, new Map()]) {
    const error = await t.throwsAsync(tryJoin(store, LEASE), { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError })
    t.is(error?.option, 'store')
  }
  for (const url of ['', 'redi://host', 'http://host', '/var/lib/ids', 'C:\\ids', 'file:']) {
    const error = await t.throwsAsync(tryJoin(url, LEASE), { code: 'ERR_FLAKE_OPTION', instanceOf: RangeError })
    t.is(error?.option, 'store', url)
  }
  const error = await t.throwsAsync(tryJoin([], LEASE), { code: 'ERR_FLAKE_OPTION', instanceOf: RangeError })
  t.is(error?.option, 'stores', 'a list of stores is one, but too short')
})

test.serial('a list of stores has 3 or 5', async (t) => {
  for (const stores of [
    [],
    ['redis://a'],
    ['redis://a', 'redis://b'],
    ['redis://a', 'redis://b', 'redis://c', 'redis://d'],
  ]) {
    const error = await t.throwsAsync(tryJoin(stores, LEASE), { code: 'ERR_FLAKE_OPTION', instanceOf: RangeError })
    t.is(error?.option, 'stores')
  }
})

test.serial('a store without one of the steps is rejected, and the message names the step', async (t) => {
  for (const step of ['create', 'acquire', 'renew', 'release', 'destroy', 'advance', 'list']) {
    const store = new MemoryStore()
    store[step] = undefined
    const error = await t.throwsAsync(tryJoin(store, LEASE), { code: 'ERR_FLAKE_OPTION' })
    t.true(error?.message.includes(`${step}()`), error?.message)
  }
})

test.serial(
  'the window must outlast the skew and the time that IDs run ahead: the bound itself and one below',
  async (t) => {
    for (const [options, least] of [
      [{ skewMs: 2000 }, 3001],
      [{ skewMs: 1999 }, 2999],
      [{ skewMs: 0, maxAheadMs: 2001 }, 3002],
      [{ skewMs: 1000, maxAheadMs: 1000 }, 3001],
      [{ skewMs: 1000, layout: 'hazelcast' }, 24_001],
    ]) {
      const error = await isRefused(t, { ...options, ttlMs: least - 1 }, 'ttlMs')
      t.true(error?.message.includes(`at least ${least}, because`), error?.message)
      await joined(t, { ...options, ttlMs: least })
    }
    await isRefused(t, { skewMs: 40_000 }, 'ttlMs')
    await isRefused(t, { layout: 'hazelcast', maxAheadMs: 60_000 }, 'ttlMs')
  },
)

test.serial('without ttlMs it is 30 s, or as long as the layout needs', async (t) => {
  const cases = [
    [{}, 30_000],
    [{ layout: 'hazelcast' }, 31_000],
    [{ layout: 'safe' }, 31_000],
    [{ layout: 'chronicle', maxAheadMs: 0 }, 30_000],
    [{ layout: 'chronicle' }, 30_000],
    [{ skewMs: 30_000 }, 46_000],
  ]
  for (const [options, ttlMs] of cases) {
    const { store } = await joined(t, { ttlMs: undefined, skewMs: undefined, ...options })
    t.is(store.group().config.ttlMs, ttlMs)
    t.is(store.group().config.skewMs, options.skewMs ?? 5000)
  }
})

test.serial('the bounds themselves, and numbers as text, are accepted', async (t) => {
  const { store, flake } = await joined(t, { ttlMs: '60000', skewMs: '0', waitMs: '0', slots: '1024', group: 'g' })
  t.like(store.group('g').config, { ttlMs: 60_000, skewMs: 0, slots: 1024 })
  t.is(flake.state, 'attached')
  await joined(t, { ttlMs: 2000, skewMs: 0, slots: 1, waitMs: MOST, group: 'a'.repeat(128), host: 'h'.repeat(255) })
})

test.serial('group and host are passed to the store', async (t) => {
  const { store } = await joined(t, { group: 'Größe/a b:*?%', host: 'web-1' })
  const [[, group, { owner, host, config, joins }]] = store.calls
  t.is(group, 'Größe/a b:*?%')
  t.is(host, 'web-1')
  t.regex(owner, /^[0-9a-f]{32}$/)
  t.true(joins, 'it may create the group')
  t.true(config.fingerprint.length > 0 && Buffer.byteLength(config.fingerprint) <= 1024)
})

test.serial('each acquisition has its own token', async (t) => {
  const { store, flake } = await joined(t)
  for (let i = 0; i < 5; i++) {
    await flake.detach()
    await flake.attach()
  }
  const owners = store.calls.filter(([step]) => step === 'acquire').map(([, , { owner }]) => owner)
  t.is(owners.length, 6)
  t.is(new Set(owners).size, 6)
})

test.serial('only the first slot may come from a new group', async (t) => {
  const { store, flake } = await joined(t)
  await flake.detach()
  await flake.attach()
  const joins = store.calls.filter(([step]) => step === 'acquire').map(([, , request]) => request.joins)
  t.deepEqual(joins, [true, false])
})

// --- new LeasedFlakeId() ---

test.serial('new LeasedFlakeId() is an error', async (t) => {
  const { flake } = await joined(t)
  const { LeasedFlakeId } = lease
  t.true(flake instanceof LeasedFlakeId)
  t.true(flake instanceof FlakeId)
  t.is(flake.constructor, LeasedFlakeId)
  for (const options of [undefined, null, {}, { id: 7 }, 7, flake]) {
    throwsCode(t, () => new LeasedFlakeId(options), 'ERR_FLAKE_OPTION', TypeError)
  }
})

// --- from the slot to the node number ---

/** `count` members of one group, all of them held. */
async function members(t, count, options) {
  const store = new MemoryStore()
  const shared = leaseOptions(options)
  const flakes = []
  for (let i = 0; i < count; i++) {
    flakes.push(await FlakeId.join(store, shared))
    closeAfter(t, flakes[i])
  }
  return flakes
}

const nodesOf = (flakes) => flakes.map((flake) => [flake.slot, flake.id, flake.decode(flake.next()).id])

test.serial('the slot is the node number', async (t) => {
  t.deepEqual(
    nodesOf(await members(t, 3)),
    [0, 1, 2].map((slot) => [slot, slot, slot]),
  )
  const [flake] = await members(t, 1)
  t.like(flake, { datacenter: 0, worker: 0 })
})

test.serial('fields given by name stay fixed, and the slot fills the others', async (t) => {
  const workers = await members(t, 3, { datacenter: 3 })
  t.deepEqual(
    workers.map(({ datacenter, worker, id }) => [datacenter, worker, id]),
    [0, 1, 2].map((worker) => [3, worker, 96 + worker]),
  )
  const datacenters = await members(t, 3, { worker: '5' })
  t.deepEqual(
    datacenters.map(({ datacenter, worker, id }) => [datacenter, worker, id]),
    [0, 1, 2].map((datacenter) => [datacenter, 5, datacenter * 32 + 5]),
  )
  for (const flake of [...workers, ...datacenters]) {
    const { datacenter, worker } = flake.decode(flake.next())
    t.deepEqual([datacenter, worker], [flake.datacenter, flake.worker])
  }
})

test.serial('the default number of slots is the capacity of the free fields, at most 65 536', async (t) => {
  const own = { fields: Object.entries({ timestamp: 40, shard: 20, counter: 4 }) }
  const cases = [
    [{}, 1024],
    [{ datacenter: 3 }, 32],
    [{ worker: 0 }, 32],
    [{ nodeOffset: 24 }, 1000],
    [{ nodeOffset: 1023 }, 1],
    [{ layout: 'snowcast', nodes: 128 }, 128],
    [{ layout: 'uniqueid', generator: 5 }, 16],
    ...WITH_NODES.map(({ name, nodes }) => [{ layout: name, maxAheadMs: 0 }, nodes]),
    [{ layout: own }, 65_536],
    [{ slots: 7 }, 7],
  ]
  for (const [options, slots] of cases) {
    const { store } = await joined(t, { epoch: undefined, ...options, group: JSON.stringify(cases.indexOf(options)) })
    const [group] = store.calls.map(([, name]) => name)
    t.is(store.group(group).config.slots, slots, JSON.stringify(options))
  }
})

test.serial('more slots than the free fields hold are rejected', async (t) => {
  await isRefused(t, { ...LEASE, datacenter: 3, slots: 33 }, 'slots')
  await isRefused(t, { ...LEASE, nodeOffset: 24, slots: 1001 }, 'slots')
  await isRefused(t, { ...LEASE, datacenter: 3, worker: 4 }, 'datacenter')
  const withoutNode = { fields: Object.entries({ timestamp: 42, counter: 22 }) }
  await isRefused(t, { ...LEASE, layout: withoutNode }, 'layout')
})

test.serial('nodeOffset moves the slots up', async (t) => {
  t.deepEqual(
    nodesOf(await members(t, 3, { nodeOffset: 100 })),
    [0, 1, 2].map((slot) => [slot, 100 + slot, 100 + slot]),
  )
  const { flake } = await joined(t, { nodeOffset: '1023' })
  t.is(flake.id, 1023)
  await isRefused(t, { ...LEASE, nodeOffset: 5, worker: 1 }, 'nodeOffset', TypeError)
})

test.serial('knobs are those of the options', async (t) => {
  const { flake } = await joined(t, { seqMask: 3, maxWaitMs: 5, maxAheadMs: 50, prefetch: 10 })
  const ids = flake.takeBigInts(40)
  const { aheadMs } = flake.stats // now: the clock catches up
  t.true([...ids].every((id) => flake.decode(id).counter <= 3))
  t.true(aheadMs > 0)
})

// --- what members must agree on ---

test.serial('members that differ only in their private options agree', async (t) => {
  const store = new MemoryStore()
  const options = leaseOptions()
  const others = { seqMask: 7, maxWaitMs: 9, maxAheadMs: 9, prefetch: true, host: 'other' }
  for (const [name, value] of [['host', 'one'], ...Object.entries(others)]) {
    closeAfter(t, await FlakeId.join(store, { ...options, [name]: value }))
  }
  t.is(store.count('acquire'), 6)
})

test.serial('durable: absent is false, and only true and false are accepted', async (t) => {
  for (const durable of [undefined, null, false, true]) {
    const { store } = await joined(t, { durable })
    t.is(store.group().config.durable, durable === true)
  }
  for (const durable of ['true', 'false', 1, 0, '', {}, []]) {
    await isRefused(t, { ...LEASE, durable }, 'durable', TypeError)
  }
})

test.serial('a group that is recreated while join() waits for a slot is not joined either', async (t) => {
  const { store, flake, options } = await joined(t, { slots: 1 })
  const waiting = tryJoin(store, options)
  await until(() => store.count('acquire') >= 2)
  await flake.destroy()
  await store.create('default', { ...store.group().config, fingerprint: 'of others' })
  await t.throwsAsync(waiting, { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  t.is(store.windows.length, 1, 'the slot of the first member')
})

// --- the environment ---

test.serial('the environment does not set a node number here', async (t) => {
  const source = `
    import { MemoryStore, LEASE } from ${JSON.stringify(new URL('../support/store.mjs', import.meta.url).href)}
    Object.assign(process.env, { FLAKEFORGE_WORKER: '7', FLAKEFORGE_DATACENTER: '9', FLAKEFORGE_ID: 'nonsense' })
    const flake = await FlakeId.join(new MemoryStore(), LEASE)
    const { id, slot, worker, datacenter } = flake
    console.log(JSON.stringify({ id, slot, worker, datacenter }))
    await flake.close()
  `
  t.deepEqual(await jsonOfChild(t, source), { id: 0, slot: 0, worker: 0, datacenter: 0 })
})
