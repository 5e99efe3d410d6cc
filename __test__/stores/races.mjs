// Several members at once on a real database, on clients of all its packages. The core tests what happens right between
// a step's read and its swap, or between its swap and the confirming read.

import { setTimeout as sleep } from 'node:timers/promises'
import { newOwner } from '../support/records.mjs'
import { untilAnswered } from '../support/steps.mjs'
import { turns } from '../support/turns.mjs'
import { until } from '../support/waits.mjs'
import { callsOn, freshName, openGroup } from './members.mjs'

const MEMBERS = 8
const WINDOWS = 6 // of each member
const SLOTS = 5 // fewer than members, so that they compete
/** The length of windows on a fast store. */
const SHORTEST_TTL_MS = 25
const REFUSALS = ['ERR_FLAKE_EXHAUSTED', 'ERR_FLAKE_DESTROYED', 'ERR_FLAKE_QUIET']

const pause = (longestMs) => sleep(Math.random() * longestMs)

/**
 * A ttl that suits the store, so that windows end while their holders are alive, but not before the confirming read: on
 * a slow disk a write takes 150 ms. It is as long as all members need, at once, to create a group each and take a slot
 * of it. That is three writes and five reads, and a window has to outlast one of each.
 */
async function fittingTtl(members) {
  const join = (member) => untilAnswered(() => callsOn(member, freshName(), { durable: true }).acquire({ joins: true }))
  await Promise.all(members.map(join)) // connects, and creates tables
  const started = performance.now()
  await Promise.all(members.map(join))
  return Math.max(SHORTEST_TTL_MS, Math.ceil(performance.now() - started))
}

/** One member that takes, keeps, loses and releases slots; every window that it had goes to `windows`. */
async function live({ acquire, renew, release }, { windows, ttlMs }) {
  for (let had = 0; had < WINDOWS; ) {
    const owner = newOwner()
    const host = `host ${had % 3}`
    const window = await untilAnswered(() => acquire({ owner, host, joins: true })).catch((error) => {
      if (!REFUSALS.includes(error.code)) throw error
    })
    if (window === undefined) {
      await pause(ttlMs)
      continue
    }
    had += 1
    await keep({ renew, release }, { owner, window, windows, ttlMs })
  }
}

async function keep({ renew, release }, { owner, window, windows, ttlMs }) {
  const renewals = Math.floor(Math.random() * 4)
  for (let i = 0; i < renewals; i++) {
    await pause(1.6 * ttlMs) // sometimes longer than the ttl: then another member may have the slot
    const renewed = await renew(window.slot, owner, { hi: window.hi }).catch(({ code }) => code)
    if (typeof renewed === 'string') return void windows.push(window)
    if (renewed.lo !== window.lo) windows.push(window)
    window = renewed
  }
  if (Math.random() < 0.5) return void windows.push(window)
  const last = window.lo + Math.floor(Math.random() * 10)
  windows.push({ ...window, hi: Math.min(window.hi, last) })
  await untilAnswered(() => release(window.slot, owner, last))
}

/** Pairs of windows of one slot that overlap. */
function overlaps(windows) {
  const sorted = windows.toSorted((a, b) => a.slot - b.slot || a.lo - b.lo)
  return sorted.flatMap((next, i) => {
    const before = sorted[i - 1]
    return before?.slot === next.slot && next.lo <= before.hi ? [[before, next]] : []
  })
}

/** These members live at the same time in one group, while `also` runs in parallel: no windows overlap. */
export async function crowd(t, members, also = async () => {}) {
  const ttlMs = await fittingTtl(members)
  const group = freshName()
  const calls = members.map((member) => callsOn(member, group, { slots: SLOTS, ttlMs, skewMs: 20, durable: true }))
  await calls[0].create()
  const life = { windows: [], ttlMs, isOver: false }
  const living = Promise.all(calls.map((call) => live(call, life))).finally(() => {
    life.isOver = true
  })
  await Promise.all([living, also(calls[0], life)])
  const { windows } = life
  t.true(windows.length >= MEMBERS * WINDOWS)
  t.true(new Set(windows.map(({ slot }) => slot)).size > 1)
  t.deepEqual(overlaps(windows), [])
}

/** Ends the group repeatedly, each time after some more windows, so that its members recreate it and get slots. */
export async function endAgainAndAgain({ destroy }, life) {
  while (!life.isOver) {
    const enough = life.windows.length + 1 + Math.floor(Math.random() * MEMBERS)
    while (life.windows.length < enough && !life.isOver) await pause(life.ttlMs)
    await untilAnswered(destroy)
  }
}

/** Tests of members at once. */
export function testRaces(kind, { test, member }) {
  const names = Object.keys(kind.fastClients ?? kind.clients)

  /** This many members on the clients of all packages, each with its own store. */
  const several = (n) => Promise.all(Array.from({ length: n }, (_, i) => member(names[i % names.length])))

  // These run alone, because the steps of all other tests would be too slow next to 50 members. On a busy machine, 50 steps
  // take longer than one may.

  for (const name of Object.keys(kind.clients)) {
    test.serial(`${name}: 100 members on one client, 50 at once, get different slots of 1 100`, async (t) => {
      const { acquire, list } = await openGroup(await member(name), { slots: 1100, durable: true })
      const [owners, inTurn] = [Array.from({ length: 100 }, newOwner), turns(50)]
      const grants = await Promise.all(
        owners.map((owner, i) => inTurn(() => untilAnswered(() => acquire({ owner, host: `host ${i % 50}` })))),
      )
      const bySlot = grants.map(({ slot }, i) => ({ slot, owner: owners[i] })).sort((a, b) => a.slot - b.slot)
      t.is(new Set(bySlot.map(({ slot }) => slot)).size, 100)
      t.deepEqual(
        (await list()).map(({ slot, owner }) => ({ slot, owner })),
        bySlot,
      )
    })
  }

  const inTurns = kind.takesTurns ? test.serial : () => {}
  inTurns('20 members on one client: the first has its slot before most of the others have swapped', async (t) => {
    const one = await member(names[0])
    const { acquire } = await openGroup(one, { slots: 20 })
    const { swap } = one.records
    let [swaps, atFirst] = [0, undefined]
    one.records.swap = (...args) => {
      swaps += 1
      return swap.apply(one.records, args)
    }
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const owner = newOwner()
        await untilAnswered(() => acquire({ owner }))
        atFirst ??= swaps
      }),
    )
    t.true(swaps >= 20)
    t.true(atFirst < 5, `${atFirst} had`)
  })

  test('30 members at once for the last 10 slots: 10 have one each', async (t) => {
    const members = await several(30)
    const { group, list } = await openGroup(members[0], { slots: 10 })
    const tries = members.map((one) => {
      const [calls, owner] = [callsOn(one, group, { slots: 10 }), newOwner()]
      return untilAnswered(() => calls.acquire({ owner }))
    })
    const answers = await Promise.allSettled(tries)
    const slots = answers.filter(({ value }) => value).map(({ value }) => value.slot)
    t.deepEqual(
      slots.sort((a, b) => a - b),
      Array.from({ length: 10 }, (_, slot) => slot),
    )
    const refused = answers.filter(({ reason }) => reason).map(({ reason }) => reason.code)
    t.deepEqual(refused, Array(20).fill('ERR_FLAKE_EXHAUSTED'))
    t.is((await list()).length, 10)
  })

  test('of 6 members that create a group at once, one created it', async (t) => {
    const members = await several(6)
    const group = freshName()
    const made = await Promise.all(members.map((one) => callsOn(one, group, { durable: true }).create()))
    t.deepEqual(made.sort(), [false, false, false, false, false, true])
  })

  test('a destroy among renewals: every member notices it, and the end is above all windows', async (t) => {
    const members = await several(MEMBERS)
    const { group, destroy, fields } = await openGroup(members[0], { slots: MEMBERS })
    const ends = []
    const held = await Promise.all(
      members.map(async (one) => {
        const [calls, owner] = [callsOn(one, group, { slots: MEMBERS }), newOwner()]
        return { ...calls, owner, grant: await calls.acquire({ owner }) }
      }),
    )
    const renewing = held.map(async ({ renew, owner, grant: { slot, hi } }) => {
      for (let grant = { hi }; grant !== 'destroyed'; grant = await renew(slot, owner, { hi: grant.hi })) {
        ends.push(grant.hi)
      }
      t.is(await renew(slot, owner), 'destroyed')
    })
    await until(() => ends.length >= MEMBERS * 3, { everyMs: 1 })
    await destroy()
    await Promise.all(renewing)
    t.true(Number((await fields()).quiet) > Math.max(...ends))
  })

  test.serial('members at once never share a slot', async (t) => {
    await crowd(t, await several(MEMBERS))
  })

  test.serial('nor where the group is destroyed and recreated under them', async (t) => {
    await crowd(t, await several(MEMBERS), endAgainAndAgain)
  })
}
