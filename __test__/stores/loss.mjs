// A real server that loses acknowledged writes, or restarts and loses nothing, on any database: the steps of
// lib/stores/database.ts on it, and members of groups and counters. It knows no database: databases.mjs does, and
// each test file knows how its own loses something.
//
// Times are compared with the store's own answers, never with durations. No test waits for the end of a quiet period:
// `endQuiet` edits the record.

import { execFile } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { until } from '../servers/server.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { closeAfter, happens, named, record, tryJoin } from '../support/lease.mjs'
import { edited, newOwner } from '../support/records.mjs'
import { untilAnswered } from '../support/steps.mjs'
import { once } from '../support/waits.mjs'
import { DatabaseStore, startDurable } from './databases.mjs'

const { openGiven } = createRequire(import.meta.url)('../../target/rooms/lib/stores/open.js')
const { SegmentId } = lease

const run = promisify(execFile)

const GROUP = 'orders'
const COUNTER = 'invoices'
/** Windows are shorter than the skew, so that no renewal is answered in a quiet period. */
const SHORT = { fingerprint: 'f', slots: 1, ttlMs: 300, skewMs: 500, durable: false }
/** A window outlasts every test, so that its holder may renew in a quiet period. */
const LONG = { fingerprint: 'f', slots: 4, ttlMs: 60_000, skewMs: 500, durable: false }
/**
 * For a member that generates IDs: it renews after 7 s, and tolerates an answer 12 s later. It would not wait as long
 * as a quiet period lasts, so it is rejected at once.
 */
const LEASE = { slots: 8, ttlMs: 20_000, skewMs: 200, waitMs: 30_000 }

const QUIET = { code: 'ERR_FLAKE_QUIET' }
const STOPPED = { code: 'ERR_FLAKE_STORE', message: /skipTo/ }

/** How long a group is quiet after a loss. */
const quietMs = ({ skewMs }) => 60_000 + skewMs + 1

/** The steps of one process, with its own client and memory. */
class Member {
  #config

  constructor(url, config = LONG) {
    this.#config = config
    this.store = new DatabaseStore(openGiven(url).store.records) // stores of one address share theirs
    this.owner = newOwner()
  }

  create() {
    return untilAnswered(() => this.store.create(GROUP, this.#config))
  }

  async acquire() {
    const request = { config: this.#config, owner: this.owner, host: 'host', joins: true }
    this.grant = await untilAnswered(() => this.store.acquire(GROUP, request))
    return this.grant
  }

  renew() {
    const { slot, hi } = this.grant
    return untilAnswered(() => this.store.renew(GROUP, { config: this.#config, slot, owner: this.owner, hi }))
  }

  async advance(by, init) {
    return (await untilAnswered(() => this.store.advance(COUNTER, by, init, this.#config.durable))).number
  }

  /** The same member, on a server that has taken over from the other. */
  on(other) {
    return Object.assign(other, { owner: this.owner, grant: this.grant })
  }

  #read() {
    return untilAnswered(() => this.store.records.read(GROUP, ['group']))
  }

  /** Ends the quiet period, which no step would do. */
  async endQuiet() {
    const { identity, values } = await this.#read()
    const ended = edited(values[0], { quiet: 0 })
    await untilAnswered(() => this.store.records.swap(GROUP, 'group', values[0], ended, identity))
  }

  /** The texts of the group's record, without creating a table. */
  async groupsThere() {
    const { records } = this.store
    const { values } = await untilAnswered(() => (records.look ?? records.read).call(records, GROUP, ['group']))
    return values.filter((text) => text !== null)
  }

  /** Waits until the server's clock is past `ms`. */
  async untilPast(ms) {
    await until(async () => (await this.#read()).now > ms)
  }
}

/**
 * Tests of every kind of loss. Returns ava's `test`, and `hold` and `memberOf(t, url, config)`, for tests of what only
 * this database does.
 *
 * @param {object} kind of databases.mjs
 * @param {object} ways
 * @param {(t: object) => Promise<object>} ways.place a database that only this test uses, on a server that it may
 *   share: its `url`, and `server` as the functions of `kind` take it
 * @param {Record<string, (place: object) => Promise<unknown>>} ways.losses makes a group forget its windows
 * @param {Record<string, (t: object) => Promise<object>>} ways.rollbacks makes a server forget its last writes: `url`,
 *   and `mark()` that returns `lose()`: all writes in between will be lost, and `url` is then where to continue;
 *   `durable` if members trust the server
 * @param {boolean} ways.isFit whether the server of `place` can be trusted
 */
export function testLosses(kind, { place, losses, rollbacks, isFit }) {
  const test = kind.isInstalled() ? anyTest : anyTest.skip
  const remove = ({ server }, group, name) => kind.remove(server, group, name)
  /** Whether a restart may have lost something, as far as a client can see. */
  const isLossy = kind.identity.includes('process')

  function memberOf(t, url, config) {
    const member = new Member(url, config)
    t.teardown(() => member.store.close())
    return member
  }

  /** A member of a new group that holds a slot. */
  async function hold(t, url, config) {
    const member = memberOf(t, url, config)
    await member.create()
    await member.acquire()
    return member
  }

  const all = { ...losses, 'the group’s record removed by hand': (where) => remove(where, GROUP, 'group') }
  for (const [what, lose] of Object.entries(all)) {
    test(`${what}: quiet for all, until every window has ended`, async (t) => {
      const where = await place(t)
      const { url } = where
      const holder = await hold(t, url, SHORT)
      await lose(where)
      const renewal = await holder.renew().catch(({ message }) => message)
      const newcomer = memberOf(t, url, SHORT)
      const isAbsent = /^lost$|has no record/.test(renewal)
      if (isAbsent) t.deepEqual(await newcomer.groupsThere(), [], 'a renewal creates no group')
      else t.regex(renewal, /grants? no slot|no slot is granted/, 'records of another time were restored')
      const noted = await t.throwsAsync(newcomer.acquire(), QUIET)
      const { retryAt, storeNow } = await t.throwsAsync(holder.renew(), QUIET)
      t.true(retryAt >= noted.retryAt, 'a member from before may see the loss itself, and note it too')
      t.true(retryAt >= holder.grant.storeNow + quietMs(SHORT))
      t.true(retryAt <= storeNow + quietMs(SHORT))
      for (const step of [() => newcomer.acquire(), () => holder.renew(), () => newcomer.acquire()]) {
        t.deepEqual((await t.throwsAsync(step(), QUIET)).retryAt, retryAt, 'noted once, for all')
      }

      const { grant } = holder
      await newcomer.untilPast(grant.hi)
      await newcomer.endQuiet()
      const renewed = await holder.renew()
      if (renewed === 'lost') t.true((await newcomer.acquire()).lo > grant.hi)
      else t.true(renewed.lo > grant.hi, 'its record was still there: a separate window')
    })
  }

  for (const [what, start] of Object.entries(rollbacks)) {
    test(`${what}: lost windows are not granted again, and known members continue`, async (t) => {
      const { url, mark, durable = false } = await start(t)
      const config = { ...LONG, durable }
      const kept = await hold(t, url, config)
      await kept.advance(10n, 0n)
      const lose = await mark()
      kept.grant = await kept.renew()
      await kept.endQuiet() // a copy may have taken a restart
      await kept.advance(0n, 10n)

      const late = memberOf(t, url, config)
      await late.acquire()
      t.is(await kept.advance(10n), 10n)
      const newUrl = await lose()

      const at = (member) => (newUrl === url ? member : member.on(memberOf(t, newUrl, config)))
      const [keptThere, lateThere, newcomer] = [at(kept), at(late), memberOf(t, newUrl, config)]
      const renewed = await keptThere.renew()
      t.is(renewed.lo, kept.grant.lo)
      t.true(renewed.hi >= kept.grant.hi)
      const noted = await t.throwsAsync(newcomer.acquire(), QUIET)
      t.true(noted.retryAt > late.grant.hi)
      const { retryAt } = await t.throwsAsync(lateThere.renew(), QUIET)
      t.true(retryAt >= noted.retryAt, 'a member from before may see the loss itself, and note it too')
      for (const step of [() => newcomer.acquire(), () => lateThere.renew()]) {
        t.deepEqual((await t.throwsAsync(step(), QUIET)).retryAt, retryAt, 'once')
      }
      for (const each of [keptThere, newcomer]) await t.throwsAsync(each.advance(10n), STOPPED)
      t.is(await newcomer.advance(0n, 100n), 100n)
      t.is(await newcomer.advance(10n), 100n)

      await newcomer.endQuiet()
      t.is(await lateThere.renew(), 'lost')
    })
  }

  if (!isFit) {
    test('durable is rejected on this server', async (t) => {
      const { url } = await place(t)
      await t.throwsAsync(tryJoin(url, { ...LEASE, durable: true }), { code: 'ERR_FLAKE_OPTION', message: /durable/ })
      const opening = SegmentId.open(url, { name: COUNTER, durable: true })
      await t.throwsAsync(opening, { code: 'ERR_FLAKE_OPTION', message: /durable/ })
    })
  }

  test('a restart: every member continues, and new ones wait unless the group is durable', async (t) => {
    const { server, url } = await startDurable(t, kind)
    const groups = [false, true].map((durable) => ({ ...LEASE, group: `durable ${durable}`, durable }))
    const counters = [false, true].map((durable) => ({ name: `durable ${durable}`, block: 10, durable }))
    await FlakeId.createGroup(url, groups[0])
    const stores = groups.map(() => watchedStore(t, url))
    const members = await Promise.all(groups.map((options, i) => FlakeId.join(stores[i].store, options)))
    const segments = await Promise.all(counters.map((options) => SegmentId.open(url, options)))
    for (const each of [...members, ...segments]) closeAfter(t, each)
    const told = members.map(record)
    let isOver = false
    t.teardown(() => {
      isOver = true
    })
    const flows = members.map((flake) => idsOf(flake, () => isOver))

    const alive = setInterval(() => {}, 1000) // nothing else keeps a process alive while its server is down
    t.teardown(() => clearInterval(alive))
    await kind.crash(server)
    await Promise.all(stores.map(({ asked }) => once(asked, 'asked'))) // both renew while there is no server
    const renewals = members.map((flake) => happens(flake, 'renewed'))
    await server.start()
    const enter = (options) => untilAnswered(() => tryJoin(url, { ...options, host: 'another' }))
    const quiet = isLossy ? await t.throwsAsync(enter(groups[0]), QUIET) : undefined
    if (!isLossy) t.regex(await enter(groups[0]), /joined/)
    t.regex(await enter(groups[1]), /joined/)
    const other = { ...groups[0], durable: true }
    await t.throwsAsync(enter(other), { code: 'ERR_FLAKE_CONFIG_MISMATCH', message: /durable false.*durable true/ })

    await Promise.race([Promise.all(renewals), Promise.all(flows)]) // these end only if a call fails
    if (isLossy)
      t.deepEqual((await t.throwsAsync(enter(groups[0]), QUIET)).retryAt, quiet.retryAt, 'quiet all the time')
    isOver = true
    for (const [i, ids] of (await Promise.all(flows)).entries()) {
      t.true(ids.length > 0)
      t.is(new Set(ids).size, ids.length)
      t.true(
        named(told[i]).every((event) => ['attached', 'renewal-failed', 'renewed'].includes(event)),
        String(named(told[i])),
      )
      t.is(members[i].state, 'attached')
    }
    await goesOn(t, segments[1])
    if (!isLossy) return goesOn(t, segments[0])
    await t.throwsAsync(takeBlocks(segments[0]), STOPPED)
    await segments[0].skipTo(1000)
    t.is(segments[0].nextBigInt(), 1000n)
  })

  return { test, hold, memberOf }
}

/** A server of `rollbacks` whose data directory is restored; `signal` ends it properly. */
export function withDirectoryPutBack({ server, url }, signal) {
  const [data, copy] = ['data', 'copy'].map((name) => join(server.folder, name))
  const whileDown = async (work) => {
    await server.kill(signal)
    await work()
    await server.start()
  }
  const lose = async () => {
    await whileDown(async () => {
      await rm(data, { recursive: true })
      await run('cp', ['-a', copy, data]) // with its owner
    })
    return url
  }
  const mark = async () => {
    await whileDown(() => run('cp', ['-a', data, copy]))
    return lose
  }
  return { url, mark }
}

/** A store that reports each request. */
function watchedStore(t, url) {
  const asked = new EventEmitter()
  const { store, close } = openGiven(url)
  t.teardown(close)
  const { records } = store
  for (const call of ['read', 'readExisting', 'checkDurable']) {
    if (records[call] === undefined) continue
    const own = records[call].bind(records)
    records[call] = (...words) => {
      asked.emit('asked')
      return own(...words)
    }
  }
  return { store, asked }
}

/** Generates IDs without a pause until `isOver()`: a call that would have to wait for a new window throws. */
async function idsOf(flake, isOver) {
  const ids = []
  while (!isOver()) {
    ids.push(flake.nextBigInt())
    await sleep(5)
  }
  return ids
}

/** More IDs than any earlier block contains. */
const takeBlocks = (segment) => untilAnswered(() => segment.takeAsync(200))

async function goesOn(t, segment) {
  t.is((await takeBlocks(segment)).length, 1600)
}
