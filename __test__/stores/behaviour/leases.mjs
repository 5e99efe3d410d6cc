// What members see of a store: the end of their group, the list and the end of counters, and IDs of the past.

import { FlakeId, lease } from '../../support/index.mjs'
import { closeAfter, leaseOptions } from '../../support/lease.mjs'
import { until } from '../../support/waits.mjs'
import { isPlain } from './suite.mjs'

const { createGroup } = FlakeId
const { SegmentId } = lease

/** The code of the first call that fails, and how long that took. */
async function firstFailure(flake, calls) {
  const start = performance.now()
  for (;;) {
    try {
      calls.push(flake.nextBigInt())
    } catch (error) {
      return { code: error.code, state: flake.state, ms: performance.now() - start }
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const PAST = Date.UTC(2024, 1, 29)

/** IDs of one ms, and of several days. */
const pastIds = (flake, n) =>
  Promise.all([
    ...Array.from({ length: n }, () => flake.nextAt(PAST)),
    ...Array.from({ length: 20 }, (_, i) => flake.nextAt(new Date(PAST + i * 40_000_000))),
  ])

async function seeListAndDestroy(t, { connect, name, isListed }) {
  const store = await connect()
  t.is(await store.counter(name), undefined)
  const one = await SegmentId.open(store, { name, block: 10, init: 4 })
  const two = await SegmentId.open(await connect(), { name, block: 10 })
  t.is(one.nextBigInt(), 5n)
  const found = await store.counter(name)
  t.like(found, { name, next: 25n, isLost: false, durable: false, lineage: one.lineage })
  t.is(store.counters !== undefined, isListed)
  const listed = async () => (await store.counters()).filter((counter) => counter.name === name)
  if (isListed) t.deepEqual(await listed(), [found])

  await store.destroyCounter(name)
  await store.destroyCounter(name)
  t.is(await store.counter(name), undefined)
  if (isListed) t.deepEqual(await listed(), [])
  const again = await SegmentId.open(store, { name, block: 10 })
  t.is(again.nextBigInt(), 0n)
  t.not(again.lineage, one.lineage)
  t.like(await t.throwsAsync(two.takeAsync(100), { code: 'ERR_FLAKE_DESTROYED' }), { group: name })
  t.is((await again.takeAsync(20)).length, 160, 'and the new one goes on')
  await Promise.all([one.close(), two.close(), again.close()])
}

/** A site for one test, with nothing between it and its clients, that keeps acknowledged writes; and the rows that connect to it. */
async function startPlain(t, suite) {
  const site = await suite.startSite(t, suite.kind.plain, suite.kind.keeps)
  return { site, rows: suite.rowsThat(isPlain(suite)) }
}

export function leasePromises(suite) {
  const { kind } = suite

  suite.promise(
    'a group that is destroyed: every member stops at its next renewal, and its first error says so',
    isPlain(suite),
    async (t, { connect, group }) => {
      const [{ store }, other] = [await connect(), await connect()]
      const options = leaseOptions({ group, ttlMs: 8000, skewMs: 1000, slots: 4 })
      await createGroup(store, options)
      const members = [await FlakeId.join(store, options), await FlakeId.join(other.store, options)]
      for (const member of members) closeAfter(t, member)
      const ids = []
      for (const member of members) ids.push(member.nextBigInt())
      const failures = members.map((member) => firstFailure(member, ids))
      await other.store.destroy(group) // not through a member, which would tell those of its process
      for (const { code, state, ms } of await Promise.all(failures)) {
        t.is(code, 'ERR_FLAKE_DESTROYED')
        t.is(state, 'destroyed')
        t.true(ms < options.ttlMs, `${ms} ms`)
      }
      t.is(new Set(ids).size, ids.length)
      for (const member of members) {
        await t.throwsAsync(member.nextAsync(), { code: 'ERR_FLAKE_DESTROYED' })
        await t.throwsAsync(member.attach(), { code: 'ERR_FLAKE_DESTROYED' })
      }
    },
  )

  // on a server of its own: the list names the counters of all groups, and a promise about texts leaves unreadable ones
  suite.test('counters can be seen, listed and destroyed', async (t) => {
    const { site, rows } = await startPlain(t, suite)
    for (const row of rows) {
      const connect = async () => (await suite.connect(t, row, site)).store
      await seeListAndDestroy(t, { connect, name: `${row.name}, invoices`, isListed: kind.cannotListGroups !== true })
    }
  })

  suite.test('IDs of the past: two members at once, and after a restart, make none twice', async (t) => {
    const { site, rows } = await startPlain(t, suite)
    await Promise.all(
      rows.map(async (row) => {
        const options = leaseOptions({ group: row.name, ttlMs: 10_000, skewMs: 1000, backfill: 2, durable: true })
        const store = async () => (await suite.connect(t, row, site)).store
        const members = [await FlakeId.join(await store(), options), await FlakeId.join(await store(), options)]
        for (const member of members) closeAfter(t, member)
        const ids = (await Promise.all(members.map((member) => pastIds(member, 300)))).flat()
        for (const member of members) await member.close()
        const next = await FlakeId.join(await store(), options)
        closeAfter(t, next)
        ids.push(...(await pastIds(next, 300)))
        t.is(new Set(ids.map((id) => id.toString('hex'))).size, 3 * 320, row.name)
        for (const id of ids) {
          const { timestamp, id: node } = next.decode(id)
          t.true(timestamp >= PAST && (timestamp - PAST) % 40_000_000 === 0 && node >= 1022, row.name)
        }
      }),
    )
  })
}

/** These wait for the ends of groups. */
export function promisesOfNextGroups(suite) {
  suite.test('IDs of the past: times of earlier groups with other nodes are refused', async (t) => {
    const { site, rows } = await startPlain(t, suite)
    await Promise.all(
      rows.map(async (row) => {
        const usual = { group: `${row.name}, again`, ttlMs: 10_000, skewMs: 1000, durable: true, waitMs: 60_000 }
        const { store } = await suite.connect(t, row, site)
        const lived = async (options) => {
          const flake = await FlakeId.join(store, leaseOptions({ ...usual, ...options }))
          closeAfter(t, flake)
          const at = async (time) => flake.nextAt(time)
          return { flake, at, refuses: (time) => t.throwsAsync(at(time), { code: 'ERR_FLAKE_BACKFILL' }, row.name) }
        }
        const first = await lived({ nodeOffset: 1000, slots: 24 - 2, backfill: 2 })
        const ids = await pastIds(first.flake, 40)
        await first.flake.destroy()
        const second = await lived({ backfill: 2 })
        await second.refuses(PAST)
        await second.refuses(new Date(PAST + 40_000_000))
        await second.flake.destroy()
        const third = await lived({ nodeOffset: 1000, slots: 24 - 2, backfill: 2 })
        const { timestamp, message } = await third.refuses(PAST)
        t.is(timestamp, PAST)
        t.regex(message, /Only times after that are safe/)
        const end = Number(/until \S+ \((\d+)\)/.exec(message)[1])
        await until(() => Date.now() > end)
        ids.push(...(await Promise.all(Array.from({ length: 60 }, () => third.at(end + 1)))))
        t.is(new Set(ids.map((id) => id.toString('hex'))).size, 60 + 60, row.name)
      }),
    )
  })
}
