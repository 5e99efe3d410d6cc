// What a leased generator does when its store does not do what it should: fails, waits, refuses, is full or is quiet; and
// when the process itself was held up. Clocks that differ are in lease-clocks.test.mjs. IDs flow as long as the window lasts, and flow again by
// themselves.

import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { called, FlakeId, isAscending, jsonOfChild, numberOf } from './support.mjs'
import {
  afterEvents,
  allRefuse,
  block,
  blockingCalls,
  closeAfter,
  flow,
  happens,
  joined,
  leaseOptions,
  named,
  record,
  tryJoin,
} from './support-lease.mjs'
import { giveAway, LEASE, MemoryStore } from './support-store.mjs'

const DOWN = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

// --- a store that is down at the start ---

for (const step of ['open', 'acquire']) {
  test.serial(`join: a store that fails at ${step}() is ERR_FLAKE_STORE, with its error as the cause`, async (t) => {
    const store = new MemoryStore()
    const options = leaseOptions()
    const cause = DOWN()
    store.before = async (name) => {
      if (name === step) throw cause
    }
    const error = await t.throwsAsync(tryJoin(store, options), { code: 'ERR_FLAKE_STORE' })
    t.is(error?.cause, cause)
    t.is(store.count(step), 1)
    store.work()
    t.is(await tryJoin(store, options), 'joined, slot undefined')
  })
}

test.serial('attach: a store that fails is ERR_FLAKE_STORE, and attach() works when it is back', async (t) => {
  const { flake, store } = await joined(t)
  await flake.detach()
  store.fail()
  const error = await t.throwsAsync(flake.attach(), { code: 'ERR_FLAKE_STORE' })
  t.is(error.cause.message, 'connection refused')
  t.is(flake.state, 'detached')
  store.work()
  await flake.attach()
  t.is(flake.state, 'attached')
})

test.serial('destroy: a store that fails is ERR_FLAKE_STORE, and nothing is over', async (t) => {
  const { flake, store } = await joined(t)
  const cause = DOWN()
  store.fail(cause)
  const error = await t.throwsAsync(flake.destroy(), { code: 'ERR_FLAKE_STORE' })
  t.is(error?.cause, cause)
  t.is(flake.state, 'attached')
  t.notThrows(() => flake.nextBigInt())
  store.work()
  await t.notThrowsAsync(flake.detach())
  await flake.attach()
  await flake.destroy()
  t.is(flake.state, 'destroyed')
})

test.serial('destroy that failed while detached does not spoil what comes after', async (t) => {
  const { flake, store } = await joined(t)
  await flake.detach()
  store.fail()
  await t.throwsAsync(flake.destroy())
  store.work()
  await t.notThrowsAsync(flake.detach())
  await t.notThrowsAsync(flake.close())
})

test.serial('destroy that failed says nothing of one that comes after the group has ended', async (t) => {
  const { flake, store } = await joined(t)
  store.fail()
  await t.throwsAsync(flake.destroy())
  store.work()
  await Promise.all([happens(flake, 'destroyed'), store.destroy('default')])
  await t.notThrowsAsync(flake.destroy())
})

test.serial('detach: a store that fails does not keep it from ending; the slot gets free after the ttl', async (t) => {
  const { flake, store } = await joined(t, { slots: 1 })
  flake.next()
  store.fail()
  await flake.detach()
  t.is(flake.state, 'detached')
  t.is(store.count('release'), 1)
  store.work()
  await flake.attach()
  const [first, second] = store.windows
  t.true(second.lo > first.hi)
})

test.serial('steps that throw instead of rejecting are failures like others', async (t) => {
  const { flake, store } = await joined(t)
  for (const step of ['acquire', 'renew', 'release']) {
    const working = store[step]
    store[step] = () => {
      throw DOWN()
    }
    if (step === 'renew') await sleep(900)
    await flake.detach()
    if (step === 'acquire') await t.throwsAsync(flake.attach(), { code: 'ERR_FLAKE_STORE' })
    store[step] = working
    await Promise.race([flake.attach(), sleep(5000)])
    t.is(flake.state, 'attached', `after ${step}() threw`)
  }
})

const WINDOW = { lo: Date.now(), hi: Date.now() + 600_000, storeNow: Date.now() }
const NONSENSE = {
  'no grant': undefined,
  null: null,
  'an unknown word': 'gone',
  'the slot after the last': { slot: 1024, ...WINDOW },
  'a slot below the first': { slot: -1, ...WINDOW },
  'half a slot': { slot: 0.5, ...WINDOW },
  'a slot that is no number': { slot: 'x', ...WINDOW },
  'a window without an end': { slot: 0, lo: WINDOW.lo, storeNow: 1 },
  'a window that ends before it begins': { slot: 0, lo: WINDOW.hi + 1, hi: WINDOW.hi, storeNow: 1 },
  'a window that is over': { slot: 0, lo: 5, hi: 10, storeNow: 1 },
  'a window of long ago': { slot: 0, lo: -5, hi: WINDOW.hi, storeNow: 1 },
  'a window until no date': { slot: 0, lo: WINDOW.lo, hi: Number.MAX_SAFE_INTEGER, storeNow: 1 },
}

for (const [what, answer] of Object.entries(NONSENSE)) {
  test.serial(`an answer that is ${what} is an error of join(), and no end of the process`, async (t) => {
    const source = `
      import { MemoryStore, LEASE } from ${JSON.stringify(new URL('./support-store.mjs', import.meta.url).href)}
      const store = new MemoryStore()
      store.acquire = async () => (${JSON.stringify(answer)})
      const alive = setTimeout(() => {}, 5000)
      const late = new Promise((resolve) => setTimeout(resolve, 3000, 'it never ends'))
      const error = await Promise.race([late, FlakeId.join(store, LEASE).then(() => 'joined', (error) => error.code)])
      console.log(JSON.stringify(error))
      clearTimeout(alive)
      process.exit()
    `
    t.is(await jsonOfChild(t, source), 'ERR_FLAKE_STORE')
  })
}

// The warnings of this file are checked, not printed.
const warnings = []
process.removeAllListeners('warning')
process.on('warning', (warning) => warnings.push(warning))

test.after('no warning was empty, and none was of something else', (t) => {
  t.true(warnings.length > 0)
  for (const { code, message } of warnings) {
    t.is(code, 'FLAKEFORGE_QUIET')
    t.regex(message, /^Group 'default' is new .* It grants nothing for -?\d+ s, until 20/)
  }
})

const later = (ms) => new Date(Date.now() + ms)
const REFUSALS = {
  'exhausted, and not by which clock': [{ code: 'ERR_FLAKE_EXHAUSTED', retryAt: later(1000) }, 'ERR_FLAKE_EXHAUSTED'],
  'quiet, and not by which clock': [{ code: 'ERR_FLAKE_QUIET', retryAt: later(60_000) }, 'ERR_FLAKE_QUIET'],
  'quiet, by no clock': [{ code: 'ERR_FLAKE_QUIET', retryAt: later(60_000), storeNow: 'now' }, 'ERR_FLAKE_QUIET'],
  'exhausted, and not until when': [{ code: 'ERR_FLAKE_EXHAUSTED' }, 'ERR_FLAKE_EXHAUSTED'],
  'exhausted until no time': [{ code: 'ERR_FLAKE_EXHAUSTED', retryAt: new Date(Number.NaN) }, 'ERR_FLAKE_EXHAUSTED'],
  'quiet until a number': [{ code: 'ERR_FLAKE_QUIET', retryAt: Date.now() + 1000, storeNow: 1 }, 'ERR_FLAKE_QUIET'],
  'with a code that every object knows': [{ code: 'constructor' }, 'ERR_FLAKE_STORE'],
}

for (const [what, [refusal, code]] of Object.entries(REFUSALS)) {
  test.serial(`a store that refuses ${what}: join() says so, and the process goes on`, async (t) => {
    const store = new MemoryStore()
    store.acquire = async () => {
      throw { ...refusal } // not even an error
    }
    const joining = FlakeId.join(store, leaseOptions({ waitMs: 300 })).catch((error) => error)
    const error = await Promise.race([joining, sleep(5000, { code: 'it never ends' })])
    t.is(error.code, code)
  })
}

for (const retryAt of [undefined, new Date(Number.NaN), later(100).getTime()]) {
  test.serial(
    `exhausted until ${retryAt && typeof retryAt}: nobody knows when to ask again, so join() ends`,
    async (t) => {
      const store = new MemoryStore()
      store.acquire = async () => {
        store.calls.push(['acquire'])
        throw Object.assign(new Error('full'), { code: 'ERR_FLAKE_EXHAUSTED', retryAt })
      }
      await t.throwsAsync(tryJoin(store, leaseOptions()), { code: 'ERR_FLAKE_EXHAUSTED' })
      t.is(store.count('acquire'), 1)
    },
  )
}

test.serial('quiet, and not by which clock: by this one, and it is waited out', async (t) => {
  const store = new MemoryStore()
  const { acquire } = store
  const until = later(300)
  store.acquire = async function (...request) {
    if (Date.now() < until.getTime()) throw { code: 'ERR_FLAKE_QUIET', retryAt: until, message: 'quiet' }
    return acquire.apply(this, request)
  }
  const { flake } = await joined(t, { waitMs: 30_000 }, store)
  t.is(flake.state, 'attached')
})

test.serial('renewals that are refused without the time until when are failures like others', async (t) => {
  const { flake, store } = await joined(t)
  store.fail(Object.assign(new Error('no'), { code: 'ERR_FLAKE_QUIET' }))
  while (store.count('renew') < 2) await sleep(20)
  store.work()
  await happens(flake, 'renewed')
  t.is(flake.state, 'attached')
})

// --- a store that fails later ---

test.serial('renewals keep IDs flowing over several windows, and the window is never far from its end', async (t) => {
  const { flake, store } = await joined(t)
  const start = Date.now()
  const ids = await flow(flake, () => Date.now() - start > 3 * LEASE.ttlMs)
  t.true(isAscending(ids))
  t.true(ids.length > 100)
  t.true(store.count('renew') >= 6, `${store.count('renew')} renewals`)
  t.is(store.count('acquire'), 1)
  t.true(flake.decode(ids.at(-1)).timestamp > store.windows[0].hi)
})

test.serial(
  'a store that fails: IDs until the end of the window, then ERR_FLAKE_LEASE_EXPIRED, then IDs again',
  async (t) => {
    const { flake, store } = await joined(t)
    const told = record(flake)
    const cause = DOWN()
    store.fail(cause)
    const { hi } = store.windows.at(-1)
    const made = []
    const makeUntil = async () => {
      for (;;) {
        try {
          made.push(flake.nextBigInt())
        } catch (error) {
          if (Date.now() > hi) return error
          if (error.code !== 'ERR_FLAKE_OVERFLOW') throw error
        }
        await sleep(1)
      }
    }
    const error = await makeUntil()
    t.is(error.code, 'ERR_FLAKE_LEASE_EXPIRED')
    t.like(error, { group: 'default', slot: 0 })
    t.is(error.cause?.code, 'ERR_FLAKE_STORE')
    t.is(error.cause?.cause, cause)
    t.true(flake.decode(made.at(-1)).timestamp <= hi)
    t.true(flake.decode(made.at(-1)).timestamp > hi - LEASE.ttlMs / 3, 'IDs came nearly to the end')
    t.is(flake.state, 'attached', 'the slot is still held, as far as anybody knows')
    t.is(flake.slot, 0)
    for (const other of await allRefuse(t, flake, 'ERR_FLAKE_LEASE_EXPIRED', blockingCalls)) {
      t.like(other, { group: 'default', slot: 0 })
    }

    const waiting = [called(flake), flake.nextAsync(), flake.takeAsync(5)]
    let isAnswered = false
    for (const promise of waiting) promise.then(() => (isAnswered = true))
    await sleep(300)
    t.false(isAnswered, 'they wait')
    store.work()
    const [one, two, batch] = await Promise.all(waiting)
    t.true(isAscending([made.at(-1), one, two, batch.subarray(0, 8)]))
    t.notThrows(() => flake.nextBigInt())
    t.is(flake.slot, 0)
    await afterEvents()
    t.deepEqual([...new Set(named(told))], ['renewed'])
  },
)

test.serial(
  'a renewal that is not answered: ERR_FLAKE_LEASE_EXPIRED too, and the answer, however late, ends it',
  async (t) => {
    const { flake, store } = await joined(t, { skewMs: 0 })
    let answer
    const { renew } = store
    store.renew = async (...request) => {
      await new Promise((resolve) => (answer = resolve))
      request[1].clientNow = Date.now()
      return renew.apply(store, request)
    }
    await sleep(LEASE.ttlMs + 100)
    const error = t.throws(() => flake.nextBigInt())
    t.is(error?.code, 'ERR_FLAKE_LEASE_EXPIRED')
    t.like(error, { group: 'default', slot: 0 })
    const waiting = flake.nextAsync()
    store.renew = renew
    answer()
    t.is(flake.decode(await waiting).id, 0)
  },
)

test.serial('the event loop blocked for longer than the window: ERR_FLAKE_OVERFLOW, which passes', async (t) => {
  const { flake, store } = await joined(t)
  const before = flake.nextBigInt()
  const { hi } = store.windows.at(-1)
  block(LEASE.ttlMs + 200)
  for (const error of await blocked(flake)) {
    t.is(error.code, 'ERR_FLAKE_OVERFLOW')
    t.true(Number.isInteger(error.retryAfterMs) && error.retryAfterMs > 0)
    t.like(error, { group: 'default', slot: 0 })
  }
  const id = await flake.nextAsync()
  t.true(numberOf(id) > before)
  t.true(flake.decode(id).timestamp > hi)
  t.is(flake.slot, 0)
  t.notThrows(() => flake.nextBigInt())
})

/** What calls say that come before the event loop has turned again. */
const blocked = (flake) =>
  Object.values(blockingCalls).map((call) => {
    try {
      return { code: String(call(flake)) }
    } catch (error) {
      return error
    }
  })

test.serial('a process that was stopped for longer than the window goes on in a window of its own', async (t) => {
  const { flake, store, options } = await joined(t, { slots: 1, waitMs: 60_000 })
  const before = flake.nextBigInt()
  const { renew } = store
  store.renew = () => new Promise(() => {}) // as while stopped: nobody hears of it
  await sleep(LEASE.ttlMs + 50)
  const other = await FlakeId.join(store, { ...options, host: 'other' })
  closeAfter(t, other)
  const others = [...other.takeBigInts(100)]
  t.is(other.slot, 0)
  t.true(others[0] > before)
  t.true(other.decode(others[0]).timestamp > store.windows[0].hi)
  t.throws(() => flake.nextBigInt(), { code: 'ERR_FLAKE_LEASE_EXPIRED' })
  store.renew = renew
})

// --- no slot ---

test.serial('exhausted: retryAt when waitMs is too short, by the store’s clock', async (t) => {
  const { store, options } = await joined(t, { slots: 2 })
  closeAfter(t, await FlakeId.join(store, options))
  const [{ hi }] = store.windows
  const error = await t.throwsAsync(tryJoin(store, { ...options, waitMs: 0 }), { code: 'ERR_FLAKE_EXHAUSTED' })
  t.is(error.group, 'default')
  t.true(error.retryAt instanceof Date)
  t.is(error.retryAt.getTime(), hi + 1)
  t.regex(error.message, /slots/)
})

test.serial('exhausted: join waits until a slot is given back', async (t) => {
  const { flake, store, options } = await joined(t, { slots: 1, waitMs: 30_000 })
  flake.next()
  const waiting = FlakeId.join(store, options)
  await sleep(100)
  await flake.close()
  const other = await waiting
  closeAfter(t, other)
  t.is(other.slot, 0)
  t.true(store.count('acquire') >= 3)
})

test.serial('exhausted for as long as waitMs: the last look is at its end', async (t) => {
  const { store, options } = await joined(t, { slots: 1 })
  const start = Date.now()
  await t.throwsAsync(tryJoin(store, { ...options, waitMs: 1500 }), { code: 'ERR_FLAKE_EXHAUSTED' })
  const asked = store.calls.filter(([step]) => step === 'acquire').map(([, , { clientNow }]) => clientNow)
  t.true(asked.at(-1) - start >= 1500, `looked for ${asked.at(-1) - start} ms`)
})

// --- a store that is quiet ---

/** A store whose group is quiet for so long. */
async function quiet(ms, options) {
  const store = new MemoryStore()
  await tryJoin(store, options)
  store.group().quietUntil = Date.now() + ms
  return store
}

test.serial('quiet: join throws at once where waitMs is too short, with the time until when', async (t) => {
  const options = leaseOptions({ waitMs: 1000 })
  const store = await quiet(60_000, options)
  const error = await t.throwsAsync(tryJoin(store, options), { code: 'ERR_FLAKE_QUIET' })
  t.is(error.retryAt.getTime(), store.group().quietUntil)
  t.is(error.group, 'default')
  t.is(store.count('acquire'), 2, 'no use in asking again')
})

test.serial('quiet: join waits it out, and one warning says why', async (t) => {
  const source = `
    import { MemoryStore, LEASE } from ${JSON.stringify(new URL('./support-store.mjs', import.meta.url).href)}
    const store = new MemoryStore()
    const warnings = []
    process.removeAllListeners('warning')
    process.on('warning', ({ code, message }) => warnings.push({ code, message }))
    await (await FlakeId.join(store, LEASE)).close()
    const until = store.group().quietUntil = Date.now() + 2500
    const flake = await FlakeId.join(store, LEASE)
    const late = flake.decode(flake.next()).timestamp >= until
    console.log(JSON.stringify({ warnings, late, asked: store.count('acquire') }))
  `
  const { warnings, late, asked } = await jsonOfChild(t, source)
  t.is(warnings.length, 1)
  t.is(warnings[0].code, 'FLAKEFORGE_QUIET')
  t.regex(warnings[0].message, /nothing for [23] s, until 20.*: await createGroup\(store, options\)/)
  t.true(late)
  t.true(asked > 2)
})

test.serial('quiet later: IDs until the end of the window, and again when it is over, in a new window', async (t) => {
  const { flake, store } = await joined(t)
  const first = flake.nextBigInt()
  const { hi } = store.windows.at(-1)
  const until = Date.now() + LEASE.ttlMs + 1000
  store.group().quietUntil = until
  await sleep(LEASE.ttlMs + 200)
  const error = t.throws(() => flake.nextBigInt(), { code: 'ERR_FLAKE_LEASE_EXPIRED' })
  t.is(error.cause?.code, 'ERR_FLAKE_QUIET')
  const id = await flake.nextAsync()
  t.true(flake.decode(id).timestamp >= until)
  t.true(numberOf(id) > first)
  const window = store.windows.at(-1)
  t.true(window.lo > hi)
  t.true(flake.decode(id).timestamp >= window.lo)
})

// --- a loss, and no way back at once ---

test.serial(
  'lost while the store is full: waits, tells its waiters, and comes back when a slot gets free',
  async (t) => {
    const { flake, store } = await joined(t, { slots: 1 })
    const told = record(flake)
    const before = flake.nextBigInt()
    store.group().slots.get(0).owner = 'f'.repeat(32)
    await happens(flake, 'lost')
    const id = await flake.nextAsync()
    t.true(numberOf(id) > before)
    t.is(flake.state, 'attached')
    t.true(flake.decode(id).timestamp > store.windows.at(-2).hi)
    await happens(flake, 'renewed')
    t.deepEqual(
      named(told).filter((name) => name !== 'renewed'),
      ['lost', 'attached'],
    )
  },
)

test.serial('lost and the store down: goes on trying until it is back', async (t) => {
  const { flake, store } = await joined(t)
  giveAway(store, 0)
  store.before = async (step) => {
    if (step === 'acquire') throw DOWN()
  }
  await happens(flake, 'lost')
  const waiting = flake.nextAsync()
  while (store.count('acquire') < 4) await sleep(20) // it goes on asking
  t.is(flake.state, 'detached')
  store.work()
  t.is(flake.decode(await waiting).id, 1)
})

test.serial('lost, then destroyed', async (t) => {
  const { flake, store } = await joined(t)
  store.group().slots.get(0).owner = 'f'.repeat(32)
  store.before = async (step) => {
    if (step === 'acquire') throw DOWN()
  }
  await happens(flake, 'lost')
  const waiting = flake.nextAsync()
  store.group().destroyed = true
  const destroyed = happens(flake, 'destroyed')
  store.work()
  await destroyed
  await t.throwsAsync(waiting, { code: 'ERR_FLAKE_DESTROYED' })
  t.is(flake.state, 'destroyed')
})
