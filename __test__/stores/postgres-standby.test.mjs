// The answer of a swap on a real PostgreSQL whose commits wait for a standby: true only if the server confirms that the
// standby has the write. Watchdogs and operators end such waits; the server then commits without the standby, with a
// warning.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import pg from 'pg'
import postgres from 'postgres'
import {
  CLIENTS,
  startPgbouncer,
  startPostgres,
  startStandby,
  wantPgbouncer,
  wantPostgres,
} from '../servers/postgres.mjs'
import { stopAfter, until } from '../servers/server.mjs'

const require = createRequire(import.meta.url)
const { postgresClient } = require('../../target/rooms/lib/stores/postgres/client.js')
const { PostgresRecords } = require('../../target/rooms/lib/stores/postgres/records.js')
const { missingOf, standbysIn } = require('../../target/rooms/lib/stores/postgres/standbys.js')
const { openPg, openPostgresJs } = require('../../target/rooms/lib/stores/postgres/url.js')

const isHere = wantPostgres() !== undefined
const test = isHere ? anyTest : anyTest.skip

const UNSURE = { code: 'ERR_FLAKE_STORE', message: /did not confirm that a write reached its standby/ }

/** Sets which standbys commits wait for, and waits until sessions know it. */
async function setStandby(server, name) {
  await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
  await server.query('SELECT pg_reload_conf()')
  await until(async () => (await server.query('SHOW synchronous_standby_names'))[0].synchronous_standby_names === name)
}

/** A server, and the records of a client for it, whose table exists. */
async function start(t, open) {
  const server = stopAfter(t, await startPostgres())
  const runner = await open(t, server)
  const records = new PostgresRecords(runner)
  t.teardown(() => records.close())
  const { identity } = await records.read('g', [])
  return { server, records, swap: (from, to) => records.swap('g', 'group', from, to, identity) }
}

/** Calls `act` with the processes whose commits wait for the standby, once there are any. */
async function toWaiting(server, act) {
  const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  await until(async () => (await server.query(`SELECT ${waiting}`)).length > 0)
  await server.query(`SELECT ${act}(pid) ${waiting}`)
}

const users = (open) => (t, server) => {
  const { client, end } = open(server.url)
  t.teardown(end)
  return postgresClient(client)
}

const behindPgbouncer = async (t, server) => openPg(pg, stopAfter(t, await startPgbouncer(server)).url)

const CLIENT_KINDS = {
  'our own Pool of pg': [test, (_, server) => openPg(pg, server.url)],
  'our own postgres.js': [test, (_, server) => openPostgresJs(postgres, server.url)],
  "the user's Pool of pg": [test, users(CLIENTS.pg)],
  'a session that suppresses warnings': [
    test,
    (_, server) =>
      openPg(pg, `${server.url}?options=-c%20client_min_messages%3Derror%20-c%20synchronous_commit%3Dlocal`),
  ],
  'pg behind PgBouncer': [isHere && wantPgbouncer() !== undefined ? anyTest : anyTest.skip, behindPgbouncer],
}

for (const [kind, [ifHere, open]] of Object.entries(CLIENT_KINDS)) {
  ifHere(`${kind}: a commit that was ended while it waited does not count as written`, async (t) => {
    const { server, records, swap } = await start(t, open)
    t.true(await swap(null, 'a'))
    await setStandby(server, 'absent')
    const cancelled = t.throwsAsync(swap('a', 'b'), UNSURE)
    await toWaiting(server, 'pg_cancel_backend')
    await cancelled
    t.deepEqual((await records.read('g', ['group'])).values, ['b'], 'the server committed it anyway')
    const terminated = t.throwsAsync(swap('b', 'c'), { code: 'ERR_FLAKE_STORE' })
    await toWaiting(server, 'pg_terminate_backend')
    await terminated
    await setStandby(server, '')
    t.true(await swap('c', 'd'))
  })
}

test('a commit that is released because the setting was emptied does not count as written', async (t) => {
  const { server, swap } = await start(t, CLIENT_KINDS['our own Pool of pg'][1])
  await setStandby(server, 'absent')
  const swapped = t.throwsAsync(swap(null, 'a'), UNSURE)
  await until(async () => (await server.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).length > 0)
  await setStandby(server, '')
  await swapped
})

test('once a standby has the write, the swap is true', async (t) => {
  const { server, swap } = await start(t, CLIENT_KINDS['our own Pool of pg'][1])
  stopAfter(t, await startStandby(server))
  await setStandby(server, '*')
  t.true(await swap(null, 'a'))
})

test("the user's postgres.js hides warnings: it is rejected where commits wait for a standby", async (t) => {
  const { server, records, swap } = await start(t, users(CLIENTS['postgres.js']))
  t.true(await swap(null, 'a'))
  stopAfter(t, await startStandby(server))
  await setStandby(server, '*')
  const refused = { code: 'ERR_FLAKE_OPTION', message: /synchronous_standby_names.*Use a URL, or a Pool/ }
  await t.throwsAsync(records.read('g', ['group']), refused)
  await t.throwsAsync(swap('a', 'b'), refused)
})

test.serial('replicas: one warning, and another one only for a setting that it has not named', async (t) => {
  const warnings = []
  const hear = (warning) => warning.code === 'FLAKEFORGE_SPLIT_BRAIN' && warnings.push(warning.message)
  process.on('warning', hear)
  t.teardown(() => process.off('warning', hear))
  const { server, records } = await start(t, CLIENT_KINDS["the user's Pool of pg"][1])
  await server.query('CREATE ROLE plain LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO plain')
  const plain = new PostgresRecords(openPg(pg, server.urlOf('plain')))
  t.teardown(() => plain.close())
  const read = async () => {
    for (const each of [plain, records, plain]) await each.read('g', [])
    await new Promise(setImmediate)
  }
  await read()
  t.deepEqual(warnings, [])
  stopAfter(t, await startStandby(server, { cluster_name: 'b' }))
  await until(async () => (await server.query('SELECT FROM pg_stat_replication')).length > 0)
  for (const [setting, text] of [
    ['b', /Its settings make that unlikely, not impossible/],
    ['', /synchronous_standby_names = the one standby to promote \(it is empty/],
    ['FIRST 1 (b, c)', /'FIRST 1 \(b, c\)': 2 are listed, and a commit waits for 1/],
    ['*', /'\*', which any standby satisfies/],
  ]) {
    await setStandby(server, setting)
    await until(async () => {
      await read()
      return warnings.length > 0
    })
    t.is(warnings.length, 1)
    t.regex(warnings.pop(), text)
  }
  await setStandby(server, 'b')
  await read()
  t.deepEqual(warnings, [])
})

// The number and the names by the server's own answer: a standby of each name has a priority in these.
const LISTS = [
  ['', 0, []],
  ['b', 1, ['b']],
  ['b, c', 1, ['b', 'c']],
  ['2 (b,c,d)', 2, ['b', 'c', 'd']],
  ['first 2 (b, "C", d)', 2, ['b', 'c', 'd']],
  ['ANY 1 ( b , B )', 1, ['b']],
  ['ANY 2(b,c,"d e, (f) "" FIRST")', 2, ['b', 'c', 'd e, (f) " first']],
  ['"first", "any 2"', 1, ['first', 'any 2']],
  ['1, 22', 1, ['1', '22']],
  ['*', 1, ['*']],
  ['FIRST 1 (b, "*")', 1, ['b', '*']],
]

test('a list of standbys: its names, and how many of them a commit waits for', async (t) => {
  const { server } = await start(t, CLIENT_KINDS['our own Pool of pg'][1])
  for (const [setting, waitsFor, names] of LISTS) {
    await setStandby(server, setting) // which the server would refuse if it were no list
    t.deepEqual(standbysIn(setting), { waitsFor, names }, setting)
  }
  for (const [setting, isMissing] of [
    ['b', false],
    ['FIRST 2 (b, c)', false],
    ['ANY 3 (b, c, d)', false],
    ['ANY 1 (b, B)', false],
    ['b, c', true],
    ['ANY 2 (b, c, d)', true],
    ['FIRST 1 (b, "*")', true],
  ])
    t.is(missingOf(setting).length > 0, isMissing, setting)
})
