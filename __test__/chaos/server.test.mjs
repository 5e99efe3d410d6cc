// Chaos on a store: a fixed script of events in which a lease by deadline produces duplicates and a lease by window
// does not; each kind of outage in every run; and a lost group that is replaced only after its windows have ended.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { until } from '../servers/server.mjs'

const require = createRequire(import.meta.url)
const FlakeId = require('flakeforge')
const { check } = require('../../lab/chaos/outcome/check.js')
const { canSetClocks } = require('../../lab/chaos/faults/clock.js')
const { Gaps } = require('../../lab/chaos/run/gaps.js')
const { Hangs } = require('../../lab/chaos/run/hangs.js')
const { MemberProcess } = require('../../lab/chaos/run/member-process.js')
const { Report } = require('../../lab/chaos/outcome/report.js')
const { extentOf: soakOf } = require('../../lab/chaos/scenarios/soak.js')
const { judgeExtent } = require('../../lab/chaos/outcome/judge.js')
const { endQuietOn, target } = require('../../lab/chaos/scenarios/server.js')
const { outages } = require('../../lab/chaos/faults/outages.js')
const { Batch, CALLS } = require('../../lab/chaos/member/calls.js')

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-chaos-leased-'))
test.after.always(() => fs.rmSync(folder, { recursive: true }))

// A script

const AHEAD_MS = 2000
const LEASE = { group: 'script', slots: 1, ttlMs: 5000, skewMs: 3000 }

/** Long enough for IDs of many ms. */
const MAKING_MS = 800

async function untilItMakes(member, more) {
  const before = member.made
  while (member.made <= before + more) {
    if (!member.isRunning) throw new Error('the member has ended')
    await sleep(10)
  }
}

/**
 * A member whose clock is ahead generates IDs and hands its slot over properly; the next member's clock is behind, and
 * passes through the very ms that the first one has used.
 */
async function handOver(t, policy) {
  const server = await startRedis()
  t.teardown(() => server.stop())
  await FlakeId.createGroup(server.url, LEASE)
  const troubles = []
  const refusals = ['ERR_FLAKE_OVERFLOW', 'ERR_FLAKE_LEASE_EXPIRED']
  const task = { join: server.url, policy, options: LEASE, call: 'next', perSecond: 1_000_000, refusals }
  const members = ['first', 'second'].map(
    (name) =>
      new MemberProcess({
        name: `${name} ${policy}`,
        folder,
        tasks: [task],
        onTrouble: (trouble) => {
          troubles.push(trouble)
          t.log(trouble)
        },
      }),
  )
  const [first, second] = members
  t.teardown(() => Promise.all(members.filter((member) => member.isRunning).map((member) => member.kill())))
  const began = performance.now()
  first.start(AHEAD_MS)
  await untilItMakes(first, 0)
  // The next member is already waiting for the slot: a process that starts later may miss these ms.
  second.start(-AHEAD_MS)
  await sleep(MAKING_MS + 2 * (performance.now() - began))
  await first.end()
  const ended = Date.now()
  await untilItMakes(second, 0)
  await sleep(ended + 2 * AHEAD_MS - Date.now())
  await untilItMakes(second, 1)
  await second.end()
  t.deepEqual(troubles, [])
  return check(members.flatMap(({ lives }) => lives.map(({ files }) => files)))
}

async function endNoticed(t, { url }, endQuiet) {
  await t.throwsAsync(FlakeId.join(url, { ...LEASE, waitMs: 10_000 }), { code: 'ERR_FLAKE_QUIET' })
  await endQuiet()
}

async function endRefused(_, { cli }, endQuiet) {
  await cli('ACL', 'SETUSER', 'default', '-@scripting')
  const ended = endQuiet()
  await until(async () => /errorstat_NOPERM/.test(await cli('INFO', 'errorstats')))
  await cli('ACL', 'SETUSER', 'default', '+@scripting')
  await ended
}

const canRun = () => wantRedis() && (canSetClocks || process.env.FLAKEFORGE_REQUIRE_SERVERS === '1')

if (canRun()) {
  test('a handover to a clock that is behind: a lease by deadline produces duplicates', async (t) => {
    const { duplicates, disorders } = await handOver(t, 'deadline')
    t.true(duplicates > 0)
    t.is(disorders, 0)
  })

  test('the same handover with windows produces none', async (t) => {
    t.like(await handOver(t, 'window'), { duplicates: 0, disorders: 0 })
  })

  for (const [how, end] of [
    ['the loss is noticed', endNoticed],
    ['the loss is not noticed, and the server refuses for a while', endRefused],
  ]) {
    test(`a lost group grants slots after its quiet period ends: ${how}`, async (t) => {
      const server = await startRedis()
      t.teardown(() => server.stop())
      await FlakeId.createGroup(server.url, LEASE)
      await server.cli('FLUSHALL')
      await end(t, server, () => endQuietOn({ port: server.port, urlAt: () => server.url }, LEASE))
      const flake = await FlakeId.join(server.url, { ...LEASE, waitMs: 10_000 })
      t.is(flake.slot, 0)
      await flake.close()
    })
  }
} else {
  test('without redis-server or clocks there is no script', (t) => t.pass())
}

// Outages

/** A store that only records what happens to it. */
function fakeStore() {
  const log = []
  const fault = (name, isLoss) => ({ counts: [name], isLoss, strike: async () => log.push(name) })
  return { log, faults: [fault('loss', true), fault('one'), fault('two'), fault('three')] }
}

test('every kind of outage happens once in the shortest run, the loss of the group last', async (t) => {
  const store = fakeStore()
  const counts = {}
  const plan = { seconds: 0.01, lastingMs: 0, endQuiet: async () => {} }
  await outages(store, { counts, until: performance.now() }, plan)
  t.deepEqual(counts, { one: 1, two: 1, three: 1, loss: 1 })
  t.is(store.log[3], 'loss')
})

test('a quiet period ends after a group is lost, and not before its windows have ended', async (t) => {
  const store = fakeStore()
  const struckAt = []
  for (const fault of store.faults) {
    const { strike } = fault
    fault.strike = () => {
      struckAt.push(performance.now())
      return strike()
    }
  }
  const waits = []
  const endQuiet = async () => waits.push([store.log.at(-1), performance.now() - struckAt.at(-1)])
  await outages(store, { counts: {}, until: performance.now() }, { seconds: 0.01, lastingMs: 50, endQuiet })
  t.is(waits.at(-1)[0], 'loss')
  for (const [, ms] of waits) t.true(ms > 50)
})

test('the last outage is also followed by the end of the quiet period', async (t) => {
  for (let round = 0; round < 10; round++) {
    const store = fakeStore()
    store.faults = store.faults.filter(({ isLoss }) => !isLoss)
    const endQuiet = async () => store.log.push('end')
    await outages(store, { counts: {}, until: performance.now() }, { seconds: 0.01, lastingMs: 0, endQuiet })
    t.is(store.log.at(-1), 'end')
    t.not(store.log.at(-2), 'end')
  }
})

test('the longest time without an ID counts only members that have started, run and are not paused', async (t) => {
  const member = (more) => ({ lives: [1], sizes: [8], isRunning: true, isPaused: false, ...more })
  let made = 0
  const busy = member()
  Object.defineProperty(busy, 'sizes', {
    get() {
      made += 8
      return [made]
    },
  })
  const others = [busy, member({ isPaused: true }), member({ isRunning: false }), member({ sizes: [0] })]
  const gaps = new Gaps([member(), ...others])
  await until(() => gaps.longest[0] !== 0)
  const before = gaps.longest[0]
  for (const until = performance.now() + 2000; performance.now() < until; ); // nothing checks meanwhile
  await until(() => gaps.longest[0] !== before)
  t.true(gaps.longest[0] - before < 1000)
  gaps.end()
  const [idle, ...rest] = gaps.longest
  t.true(idle > 0)
  t.deepEqual(rest, [0, 0, 0, 0])
})

/** A member that generates nothing, and collects its troubles. */
function idle(more) {
  const troubles = []
  return {
    lives: [1],
    sizes: [0],
    isRunning: true,
    isPaused: false,
    troubles,
    trouble: (what) => troubles.push(what),
    ...more,
  }
}

test('a member that is not hindered hangs although its clock is off, and its last error is told', async (t) => {
  const members = [idle({ isOff: true, lastError: 'ERR_X: y' }), idle({ isOff: false })]
  const hangs = new Hangs(members, 600, (_, i) => i === 1)
  await until(() => members[0].troubles.length > 0)
  hangs.end()
  t.deepEqual(members[0].troubles, ['hangs: thread 1 made no ID for 0.6 s; its last error was ERR_X: y'])
  t.deepEqual(members[1].troubles, [])
})

test('the longest time without an ID that nothing explains has the last error of the member', async (t) => {
  const members = [idle({ sizes: [8], lastError: 'ERR_X: y' }), idle({ sizes: [8], lastError: 'ERR_X: z' })]
  const gaps = new Gaps(members, (_, i) => i === 1)
  await until(() => gaps.unhindered[0] > 0)
  gaps.end()
  t.deepEqual(gaps.errors, ['ERR_X: y', undefined])
  const { unhindered, errors } = gaps
  const shown = new Report([]).gaps({
    longestGaps: [6000, 1],
    unhinderedGaps: [6000, unhindered[1]],
    gapErrors: errors,
  })
  t.regex(shown, /majority: 6\.0 s, 0\.0 s\n {4}member 1: ERR_X: y$/)
})

test('a soak ends when there are enough IDs and enough faults', async (t) => {
  const { isEnough } = soakOf('quorum3', 3e6)
  const run = (kills, made) => ({ counts: { kills, cuts: 1 }, members: [{ made }, { made: 1 }], troubles: [] })
  t.true(isEnough(run(2, 3e6)))
  t.false(isEnough(run(1, 3e6)))
  t.false(isEnough(run(2, 2e6)))
  t.true(isEnough({ ...run(0, 0), troubles: ['hangs'] }))
  t.false(soakOf('redis', 3e7).isEnough(run(1, 3e7)))
})

test('a long run that met too few faults proves nothing', (t) => {
  const full = { seconds: 120, faults: 100, ids: 1000 }
  const results = (faults, ids) => [{ counts: { kills: faults - 1, cuts: 1 }, ids }]
  t.deepEqual(judgeExtent(results(100, 1000), 120, full), [])
  t.deepEqual(judgeExtent(results(99, 999), 119, full), [])
  t.regex(judgeExtent(results(99, 1000), 120, full).join(), /^only 99 faults/)
  t.regex(judgeExtent(results(100, 999), 120, full).join(), /^only 999 IDs/)
})

test('each target names its faults', (t) => {
  for (const name of ['redis', 'postgres', 'mysql', 'etcd']) t.true(target(name).columns.includes('restarts'))
})

// Calls

test('a batch keeps all generated IDs, whichever call requested them', async (t) => {
  const flake = new FlakeId({ id: 9 })
  for (const call of Object.keys(CALLS)) {
    const batch = new Batch()
    await CALLS[call](flake, batch)
    t.true(batch.isFull, call)
    const bytes = batch.drain()
    const ids = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readBigUInt64BE(i * 8))
    t.true(
      ids.every((id, i) => i === 0 || id > ids[i - 1]),
      call,
    )
  }
})

test('a rejected call does not hide IDs generated next to it', async (t) => {
  for (const call of ['nextCallback', 'nextAsync']) {
    const flake = new FlakeId({ id: 10 })
    let calls = 0
    const some = (make) => (++calls === 5 ? Promise.reject(new Error('refused')) : make())
    const refusing = {
      nextAsync: () => some(() => flake.nextAsync()),
      next: (callback) => some(() => flake.nextAsync()).then((id) => callback(null, id), callback),
    }
    const batch = new Batch()
    await t.throwsAsync(async () => CALLS[call](refusing, batch), { message: 'refused' })
    t.is(batch.drain().length, 255 * 8)
  }
})
