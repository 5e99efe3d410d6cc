// Checks that a loss shows: after the module's wipe() the identity has changed, or all records are absent, for all clients;
// and that no swap which was decided before it is written after it. It runs last.

import type { StoreIdentity } from 'flakeforge/lease'
import { Finding } from '../finding.ts'
import type { Client } from '../process.ts'
import { slotName } from '../slot-name.ts'
import { monotonicNow, sleep } from '../time.ts'
import type { Check, Found, Trial } from '../trial.ts'

const BACK_MS = 10_000

/** Asks again for a while, because a wipe may have restarted the server. */
async function whenBack<T>(ask: () => Promise<T>): Promise<T> {
  const end = monotonicNow() + BACK_MS
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof Finding || monotonicNow() > end) throw error
      await sleep(100)
    }
  }
}

/** Whether some records have changed, and whether each group has lost all of them or none; `all`: whether nothing is left. */
function lostOf(found: Found[]) {
  const groups: Map<string, { isKept: boolean; isGone: boolean }[]> = new Map()
  for (const { group, wanted, seen } of found) {
    groups.set(group, [...(groups.get(group) ?? []), { isKept: seen === wanted, isGone: seen === null }])
  }
  const records = [...groups.values()]
  return {
    some: found.some(({ wanted, seen }) => seen !== wanted),
    all: found.every(({ seen }) => seen === null),
    whole: records.every((group) => group.every(({ isKept }) => isKept) || group.every(({ isGone }) => isGone)),
  }
}

const isSame = (one: StoreIdentity, other: StoreIdentity) =>
  one.history === other.history && one.process === other.process

async function loss(trial: Trial) {
  if (!trial.wipes) return 'skipped: the module exports no wipe()'
  const group = trial.group('shared')
  const before = await trial.clients[0].identity(group)
  const swaps = await swapDuringLoss(trial)
  await trial.processes[0].ask('wipe')
  const fresh = await whenBack(() => trial.newClient())
  const now = await whenBack(() => fresh.identity(group))
  await checkSame(trial, group, now)
  const lost = lostOf(await whenBack(() => trial.find(fresh)))
  if (isSame(now, before)) {
    checkShown(lost)
    return 'the records are gone'
  }
  await checkRefused([fresh, ...trial.clients], group, before)
  if (lost.all) await checkLate(await swaps.ended, fresh, swaps.group)
  return 'all clients see it, and earlier swaps are refused'
}

function checkShown({ some, whole }: ReturnType<typeof lostOf>) {
  if (some && whole) return
  throw new Finding(
    some
      ? 'after wipe(), only a part of a group is gone, and the identity is the same'
      : 'after wipe(), nothing is gone and the identity is the same',
    'another identity, or no record of a group: a loss must show',
    some ? 'change the identity when writes may be missing' : "let wipe() delete the server's data",
  )
}

/** Clients that were open before must read the same as a new one. */
async function checkSame(trial: Trial, group: string, now: StoreIdentity) {
  for (const client of trial.clients) {
    const seen = await whenBack(() => client.identity(group))
    if (isSame(seen, now)) continue
    throw new Finding(
      `after wipe(), a client that was open before reads ${JSON.stringify(seen)}, and a new one ${JSON.stringify(now)}`,
      'the same identity for all clients, after a loss too',
      'read the identity from the server in every read; do not cache what a client read when it connected',
    )
  }
}

/** Each client must refuse a swap with the earlier identity, whatever it knows. */
async function checkRefused(clients: Client[], group: string, before: StoreIdentity) {
  for (const [i, client] of clients.entries()) {
    const from = await client.value(group, 'group')
    if (!(await client.swap(group, 'group', from, 'flakeforge check: after a loss', before))) continue
    throw new Finding(
      `after wipe(), a swap with the identity from before was answered true${i === 0 ? '' : ' to a client that was open before'}`,
      'false: the server is not the one that was read',
      "compare the identity with the server's own in the same atomic step as the record",
    )
  }
}

/** After one of these numbers of answers, a swap that compares the identity first and then writes is between the two. */
const STEPS = [1, 2, 3]

/**
 * Swaps of absent records in processes that are suspended during the loss. After a loss of all records, only the identity can
 * refuse these swaps.
 */
async function swapDuringLoss(trial: Trial) {
  const group = trial.group('lost')
  const clients = await Promise.all(STEPS.map(() => trial.newClient()))
  const [identity] = await Promise.all(clients.map((client) => client.identity(group)))
  const swaps = STEPS.map((n) => ({ name: slotName(n), to: trial.text() }))
  const halts = swaps.map(({ name, to }, i) =>
    clients[i].halt(STEPS[i], { swap: [group, name, null, to, identity] }, trial.size.wipeMs),
  )
  await Promise.all(halts.map(({ begun }) => begun))
  const ended = Promise.all(
    halts.map(async ({ answers }, i) => ({ ...swaps[i], isTrue: (await answers).swap === true })),
  )
  ended.catch(() => {}) // awaited later
  return { group, ended }
}

/** @param group in which nothing is left */
async function checkLate(swaps: { name: string; to: string; isTrue: boolean }[], client: Client, group: string) {
  const seen = await client.values(
    group,
    swaps.map(({ name }) => name),
  )
  if (!swaps.some(({ to, isTrue }, i) => isTrue && seen[i] === to)) return
  throw new Finding(
    'a swap that began before wipe(), with the identity of that time, was answered true and written after it',
    'false: the server is not the one that was read',
    'compare the identity in the same atomic step as the record, not in a separate request before',
  )
}

export default [{ name: 'loss', run: loss }] satisfies Check[]
