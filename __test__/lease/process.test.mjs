// A leased generator and its surroundings: the listeners of its events, and whether it keeps the process alive.

import test from 'ava'
import { jsonOfChild } from '../support/index.mjs'
import { joined } from '../support/lease.mjs'

const STORE = JSON.stringify(new URL('../support/store.mjs', import.meta.url).href)
const PRELUDE = `import { MemoryStore, LEASE } from ${STORE}\nconst store = new MemoryStore()\n`

// --- listeners ---

test.serial('a listener may call anything of the generator', async (t) => {
  const { flake, store } = await joined(t, { slots: 4 })
  const again = new Promise((resolve) => {
    const listener = () => {
      flake.off('detached', listener) // close() detaches too, and is final
      flake.attach().then(() => resolve(flake.nextBigInt()))
    }
    flake.on('detached', listener)
  })
  flake.nextBigInt()
  await flake.detach()
  t.true((await again) > 0n)
  t.is(store.count('acquire'), 2)
})

test.serial('a listener that throws breaks nothing, and uncaughtException sees it', async (t) => {
  const source = `${PRELUDE}
    const flake = await FlakeId.join(store, LEASE)
    const seen = []
    process.on('uncaughtException', ({ message }) => seen.push(message))
    for (const event of ['renewed', 'detached', 'attached', 'lost', 'destroyed']) {
      flake.on(event, () => { throw new Error(event) })
    }
    const until = async (event) => { while (!seen.includes(event)) await new Promise((r) => setTimeout(r, 5)) }
    await until('renewed')
    await until('renewed')
    const first = flake.nextBigInt()
    store.group().slots.get(flake.slot).owner = 'other'
    await until('attached')
    const second = await flake.nextAsync()
    await flake.detach()
    await flake.attach()
    const third = flake.nextBigInt()
    const { renewals } = { renewals: store.count('renew') }
    while (store.count('renew') === renewals) await new Promise((r) => setTimeout(r, 5))
    await flake.destroy()
    await until('destroyed')
    console.log(JSON.stringify({ seen: [...new Set(seen)].sort(), state: flake.state, distinct: new Set([first, second.readBigUInt64BE(), third]).size }))
  `
  t.deepEqual(await jsonOfChild(t, source), {
    seen: ['attached', 'destroyed', 'detached', 'lost', 'renewed'],
    state: 'destroyed',
    distinct: 3,
  })
})

// --- what keeps a process alive ---

test.serial('an attached lease alone does not keep the process alive', async (t) => {
  const source = `${PRELUDE}
    const flake = await FlakeId.join(store, { ...LEASE, ttlMs: 60000 })
    console.log(JSON.stringify(flake.state))
  `
  t.is(await jsonOfChild(t, source), 'attached')
})

test.serial('a join that waits for a slot keeps the process alive', async (t) => {
  const source = `${PRELUDE}
    const options = { ...LEASE, slots: 1, waitMs: 30000 }
    const first = await FlakeId.join(store, options)
    first.next()
    store.calls.length = 0
    setTimeout(() => first.close(), 500).unref()
    const second = await FlakeId.join(store, options)
    console.log(JSON.stringify({ slot: second.slot, asked: store.count('acquire') > 1 }))
  `
  t.deepEqual(await jsonOfChild(t, source), { slot: 0, asked: true })
})

/** A child with a store in its memory, whose group has just ended: a new one is quiet for more than a minute. */
const ENDED_GROUP = `
  const records = new Map()
  const identity = { history: 'h', process: 'p' }
  const store = lease.recordStore({
    read: async (_, names) => ({ now: Date.now(), identity, values: names.map((name) => records.get(name) ?? null) }),
    swap: async (_, name, from, to) => (records.get(name) ?? null) === from && Boolean(records.set(name, to)),
    names: async () => [...records.keys()],
  })
  await FlakeId.join(store, { waitMs: 0 }).catch(() => {})
  await store.destroy('default')
`

test.serial('createGroup that is aborted in a quiet period does not keep the process alive', async (t) => {
  const source = `${ENDED_GROUP}
    const controller = new AbortController()
    process.on('warning', ({ code }) => code === 'FLAKEFORGE_QUIET' && controller.abort('enough'))
    const reason = await FlakeId.createGroup(store, { signal: controller.signal }).catch((error) => error)
    console.log(JSON.stringify(reason))
  `
  t.is(await jsonOfChild(t, source, ['--no-warnings']), 'enough') // a child that lives for a minute is killed
})

test.serial('next(callback) that waits for a slot keeps the process alive', async (t) => {
  const source = `${PRELUDE}
    const flake = await FlakeId.join(store, { ...LEASE, skewMs: 1300 })
    store.group().slots.get(0).owner = 'other'
    store.before = (step) => step === 'acquire' && new Promise((resolve) => setTimeout(resolve, 1200).unref())
    flake.on('lost', () => flake.next((error, id) => console.log(JSON.stringify([error, flake.decode(id).id]))))
    setTimeout(() => {}, 1000)
  `
  t.deepEqual(await jsonOfChild(t, source), [null, 1])
})
