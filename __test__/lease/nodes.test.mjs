// A node number that another generator of this process uses: join() and attach() take another slot, on a store of the
// test's own, in a folder and on a Redis. Conversely, other generators cannot use a leased number until the lease and
// its window have ended.

import test from 'ava'
import { FlakeId, jsonOfChild, throwsCode } from '../support/index.mjs'
import { joinAs, joined, leaseOptions, tryJoin } from '../support/lease.mjs'
import { diskFolder } from '../support/processes.mjs'
import { giveAway, MemoryStore } from '../support/store.mjs'
import { until } from '../support/waits.mjs'

/** A generator of this process with this node number. */
const plain = ({ epoch }, id) => new FlakeId({ epoch, id }).next()

const owners = (store) => [...store.group().slots].filter(([, { owner }]) => owner !== undefined).map(([slot]) => slot)

// --- another slot is taken ---

test.serial('join: slots whose node numbers are in use are released unused, and another one is held', async (t) => {
  const options = leaseOptions()
  plain(options, 0)
  plain(options, 1)
  const { flake, store } = await joined(t, options)
  t.is(flake.slot, 2)
  t.is(flake.decode(flake.next()).id, 2)
  await until(() => store.count('release') >= 2)
  t.deepEqual(owners(store), [2], 'nothing else stays taken')
  const asked = store.calls.filter(([step]) => step === 'acquire' || step === 'release')
  t.deepEqual(
    asked.map(([step]) => step),
    ['acquire', 'acquire', 'acquire', 'release', 'release'],
    'released at once, it would be granted again',
  )
  const tokens = asked.map(([, , { owner }]) => owner)
  t.is(new Set(tokens.slice(0, 3)).size, 3)
  t.deepEqual(tokens.slice(3), tokens.slice(0, 2))
  t.true(asked.slice(3).every(([, , { last }]) => last === -1))
})

test.serial('attach: a node number that was taken meanwhile is left alone', async (t) => {
  const { flake, store, options } = await joined(t, { slots: 4, host: 'h' })
  await flake.detach()
  giveAway(store, 0)
  store.group().slots.set(1, { host: 'h', lo: 0, hi: 5 }) // free, and this host's last
  plain(options, 1)
  await flake.attach()
  t.is(flake.slot, 2)
  await until(() => store.count('release') >= 2)
  t.deepEqual(owners(store), [0, 2])
})

test.serial('no other slot is left: ERR_FLAKE_EXHAUSTED says why, and the skipped slots are free again', async (t) => {
  for (const waitMs of [0, 500]) {
    const options = leaseOptions({ slots: 2, waitMs })
    plain(options, 0)
    plain(options, 1)
    const store = new MemoryStore()
    const error = await t.throwsAsync(tryJoin(store, options), { code: 'ERR_FLAKE_EXHAUSTED' })
    t.regex(error.message, /node 1 already takes its numbers from a cursor in memory in this process/)
    t.regex(error.message, /Use only one of the two, or a node number that no other process uses/)
    t.is(error.cause.code, 'ERR_FLAKE_CONFIG_MISMATCH')
    t.true(error.retryAt instanceof Date)
    t.is(error.group, 'default')
    t.deepEqual(owners(store), [])
  }
})

test.serial('a later error with other reasons does not name node numbers', async (t) => {
  const options = leaseOptions({ slots: 2, waitMs: 0 })
  plain(options, 0)
  const { flake, store } = await joined(t, options)
  t.is(flake.slot, 1)
  await flake.detach()
  giveAway(store, 1)
  const before = await t.throwsAsync(flake.attach(), { code: 'ERR_FLAKE_EXHAUSTED' })
  t.regex(before.message, /node 0/)
  giveAway(store, 0)
  const error = await t.throwsAsync(flake.attach(), { code: 'ERR_FLAKE_EXHAUSTED' })
  t.notRegex(error.message, /already/)
  t.is(error.cause, undefined)
})

test.serial('in a folder: another slot is taken, and the others are free for other processes', async (t) => {
  const folder = diskFolder(t)
  const options = leaseOptions({ slots: 3 })
  plain(options, 0)
  const join = async () => {
    const flake = await joinAs(t, `file:${folder}`, options)
    return flake
  }
  const first = await join()
  t.is(first.slot, 1)
  t.is(first.decode(first.next()).id, 1)
  const source = `
    const flake = await FlakeId.join('file:${folder}', ${JSON.stringify(options)})
    console.log(JSON.stringify(flake.slot))
    await flake.close()
  `
  t.is(await jsonOfChild(t, source), 0)
  const second = await join()
  t.is(second.slot, 2)
  await t.throwsAsync(tryJoin(`file:${folder}`, { ...options, waitMs: 0 }), { code: 'ERR_FLAKE_EXHAUSTED' })
  await second.detach()
  await second.attach()
  t.is(second.slot, 2)
})

// --- the other order ---

test.serial('a leased number is refused to other generators, and the error says what to do', async (t) => {
  const { flake, options } = await joined(t)
  const clash = throwsCode(t, () => plain(options, 0), 'ERR_FLAKE_CONFIG_MISMATCH')
  t.regex(clash.theirs, /lease/)
  t.regex(clash.message, /Call join\(\) for this generator too, or use a node number that no slot of the group has/)
  t.regex(clash.message, /close\(\)/)
  t.notThrows(() => plain(options, 1))
  t.is(flake.state, 'attached')
})

test.serial('after close() and the end of the window the number is free, and its IDs continue above', async (t) => {
  const { flake, options, store } = await joined(t, { maxAheadMs: 1000, seqMask: 3 })
  const ids = [...flake.takeBigInts(4 * 900)] // ahead of the clock
  await flake.close()
  const { hi } = store.windows.at(-1)
  if (Date.now() < hi) throwsCode(t, () => plain(options, 0), 'ERR_FLAKE_CONFIG_MISMATCH')
  await until(() => Date.now() > hi)
  const own = new FlakeId({ epoch: options.epoch, id: 0 })
  t.true(own.nextBigInt() > ids.at(-1))
  t.is(own.decode(own.next()).id, 0)
})

test.serial('a window that was never opened leaves the number free at once', async (t) => {
  const options = leaseOptions({ waitMs: 0, skewMs: 1300, slots: 1 })
  await t.throwsAsync(tryJoin(new MemoryStore({ offsetMs: 1250 }), options), { code: 'ERR_FLAKE_CLOCK_SKEW' })
  t.notThrows(() => plain(options, 0))
})
