// What counts as written on a real MariaDB with a semi-sync replica: a commit that is killed while it waits, an
// unreachable replica, settings that let the server answer without one; and how many connections members have
// meanwhile.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import mariadb from 'mariadb'
import mysql2 from 'mysql2'
import { isMysql, startReplica } from '../servers/mysql.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { put } from '../support/records.mjs'
import { openGroup } from '../support/steps.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { freshUrl, isInstalled, newClient, startAlone } from './mysql-shared.mjs'

const require = createRequire(import.meta.url)
const { createGroup, FlakeId } = require('../../dist/index.cjs')
const { isPassing, isRefusedWrite } = require('../../target/rooms/lib/base/errors.js')
const { DatabaseStore } = require('../../target/rooms/lib/stores/database.js')
const { mysqlClient } = require('../../target/rooms/lib/stores/mysql/client.js')
const { MysqlRecords } = require('../../target/rooms/lib/stores/mysql/records.js')
const { openMariadb, openMysql2 } = require('../../target/rooms/lib/stores/mysql/url.js')

const test = isInstalled ? anyTest.serial : anyTest.skip
/** On MySQL, KILL QUERY does not end the wait for a replica: the store's time limit does. */
const testKill = isMysql ? anyTest.skip : test

const STORE = { code: 'ERR_FLAKE_STORE' }
const UNSURE = { ...STORE, message: /did not confirm that a replica has the write/ }
const MAY_RUN = { ...STORE, message: /may still run a statement that was given up/ }
const OFF = { ...STORE, message: /semi-sync is enabled and its status is OFF/ }
const FOREVER = 1_000_000_000

/** A primary that waits for its replica. `settings`: of the primary. */
async function startPair(t, settings = {}) {
  const primary = await startAlone(t, {
    'server-id': 1,
    'log-bin': 'log',
    'binlog-format': 'ROW',
    'rpl-semi-sync-master-timeout': FOREVER,
    'rpl-semi-sync-master-wait-point': 'AFTER_SYNC',
    ...settings,
  })
  const replica = stopAfter(t, await startReplica(primary, { 'rpl-semi-sync-slave-enabled': 1, 'log-bin': 'log' }))
  const clients = async () =>
    Number((await primary.query(`SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_clients'`))[0].Value)
  await primary.query('SET GLOBAL rpl_semi_sync_master_enabled = 1')
  await until(async () => (await clients()) === 1)
  const url = await freshUrl(primary)
  const stopReplica = async () => {
    await replica.query('STOP SLAVE')
    await until(async () => (await clients()) === 0)
  }
  const startAgain = async () => {
    await replica.query('START SLAVE')
    await until(async () => (await clients()) === 1)
  }
  return { primary, url, stopReplica, startAgain }
}

const DUMPS = `SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'`
const WAITING = `SELECT ID AS id FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for semi-sync%'`

const LOCKED = `SELECT trx_id FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'`
const CONNECTIONS = 'SELECT COUNT(*) AS count FROM information_schema.PROCESSLIST WHERE DB = ?'

/** The number of the session that waits for the replica. */
async function waiting(primary) {
  let found
  await until(async () => {
    found = await primary.query(WAITING)
    return found.length > 0
  })
  return found[0].id
}

/** The warnings about replicas from now on, as they are emitted. */
function hearWarnings(t) {
  const warnings = []
  const listen = ({ code, message }) => code === 'FLAKEFORGE_SPLIT_BRAIN' && warnings.push(message)
  process.on('warning', listen)
  t.teardown(() => process.off('warning', listen))
  return warnings
}

// First, because a process warns once.
test('replicas cause one warning, and another one only for a setting that it has not named', async (t) => {
  const { primary, url } = await startPair(t)
  const warnings = hearWarnings(t)
  const read = async () => {
    const records = new MysqlRecords(mysqlClient(await newClient(t, url, 'a pool of mysql2')))
    for (let i = 0; i < 2; i++) await records.read('g', ['group'])
    await new Promise(setImmediate)
  }
  await read()
  t.is(warnings.length, 1)
  t.regex(warnings[0], /^This MySQL server has replicas.*Its settings make that unlikely, not impossible.*or to etcd/)
  const second = stopAfter(t, await startReplica(primary, { 'server-id': 3, 'rpl-semi-sync-slave-enabled': 1 }))
  await until(async () => (await primary.query(DUMPS)).length === 2)
  await read()
  t.is(warnings.length, 2)
  t.regex(warnings[1], /one replica, which is the one to promote \(a commit waits for 1, and more are connected\)/)
  await second.query('STOP SLAVE')
  await primary.query('SET GLOBAL rpl_semi_sync_master_enabled = 0')
  await read()
  t.is(warnings.length, 3)
  t.regex(warnings[2], /rpl_semi_sync_master_enabled \(MySQL 8: rpl_semi_sync_source_enabled\) = 1/)
  await primary.query('SET GLOBAL rpl_semi_sync_master_enabled = 1')
  await read()
  t.is(warnings.length, 3)
})

for (const kind of ['a pool of mysql2', 'a pool of mariadb']) {
  testKill(
    `${kind}: a commit that is killed while it waits for its replica is not a swap, and shows in reads`,
    async (t) => {
      const { primary, url, stopReplica, startAgain } = await startPair(t)
      const records = new MysqlRecords(mysqlClient(await newClient(t, url, kind)))
      await put(records, 'g', 'group', 'a')
      const { identity } = await records.read('g', ['group'])
      await stopReplica()
      for (const [name, from, to] of [
        ['group', 'a', 'b'],
        ['counter', null, 'c'],
      ]) {
        const swapping = t.throwsAsync(records.swap('g', name, from, to, identity), UNSURE)
        await primary.query(`KILL QUERY ${await waiting(primary)}`)
        t.false(isRefusedWrite(await swapping), 'it may have been written')
        t.deepEqual((await records.read('g', [name])).values, [to], 'the server has it')
      }
      await startAgain()
      t.true(await records.swap('g', 'group', 'b', 'd', identity))
    },
  )
}

test('a connection that is killed while its commit waits is an error', async (t) => {
  const { primary, url, stopReplica } = await startPair(t)
  const records = new MysqlRecords(mysqlClient(await newClient(t, url, 'a pool of mysql2')))
  await put(records, 'g', 'group', 'a')
  const { identity } = await records.read('g', ['group'])
  await stopReplica()
  const swapping = t.throwsAsync(records.swap('g', 'group', 'a', 'b', identity), STORE)
  await primary.query(`KILL ${await waiting(primary)}`)
  t.false(isRefusedWrite(await swapping))
})

test('semi-sync that is switched off, or times out, while a commit waits: not a swap', async (t) => {
  const { primary, url, stopReplica, startAgain } = await startPair(t)
  const records = new MysqlRecords(mysqlClient(await newClient(t, url, 'a pool of mysql2')))
  await put(records, 'g', 'group', 'a')
  const { identity } = await records.read('g', ['group'])
  await stopReplica()
  const swapping = t.throwsAsync(records.swap('g', 'group', 'a', 'b', identity), UNSURE)
  await waiting(primary)
  await primary.query('SET GLOBAL rpl_semi_sync_master_enabled = 0')
  await swapping
  t.true(await records.swap('g', 'group', 'b', 'c', identity), 'the operator configured not to wait for replicas')
  await primary.query('SET GLOBAL rpl_semi_sync_master_timeout = 100; SET GLOBAL rpl_semi_sync_master_enabled = 1')
  await t.throwsAsync(records.swap('g', 'group', 'c', 'd', identity), UNSURE)
  const error = await t.throwsAsync(records.swap('g', 'group', 'd', 'e', identity), OFF)
  t.true(isRefusedWrite(error))
  t.deepEqual((await records.read('g', ['group'])).values, ['d'], 'nothing was sent')
  await startAgain()
  await until(async () => records.swap('g', 'group', 'd', 'f', identity).catch(() => false))
})

test('wait_no_slave = OFF: without a replica nothing is a swap', async (t) => {
  const { url, stopReplica } = await startPair(t, { 'rpl-semi-sync-master-wait-no-slave': 'OFF' })
  const records = new MysqlRecords(mysqlClient(await newClient(t, url, 'a pool of mysql2')))
  await put(records, 'g', 'group', 'a')
  const { identity } = await records.read('g', ['group'])
  await stopReplica()
  for (const [from, to] of ['ab', 'bc', 'cd']) {
    const error = await t.throwsAsync(records.swap('g', 'group', from, to, identity), STORE)
    t.true(UNSURE.message.test(error.message) || OFF.message.test(error.message), error.message)
  }
})

testKill('counters that are reset do not hide that a commit was killed', async (t) => {
  const { primary, url, stopReplica, startAgain } = await startPair(t)
  const records = new MysqlRecords(mysqlClient(await newClient(t, url, 'a pool of mysql2')))
  await put(records, 'g', 'group', 'a')
  const { identity } = await records.read('g', ['group'])
  await stopReplica()
  const reset = () => primary.query('FLUSH LOCAL STATUS') // without LOCAL it would wait for the replica itself
  // Each time, the counters are the same before and afterwards, and mostly were reset within the same second.
  for (const [from, to] of ['ab', 'bc', 'cd', 'de']) {
    await reset()
    const swapping = t.throwsAsync(records.swap('g', 'group', from, to, identity), UNSURE)
    await primary.query(`KILL QUERY ${await waiting(primary)}`)
    await reset()
    await swapping
  }
  await startAgain()
  t.true(await records.swap('g', 'group', 'e', 'f', identity))
})

test('join() waits for the statements that an earlier join() left running, and has two connections meanwhile', async (t) => {
  const { primary, url, stopReplica, startAgain } = await startPair(t)
  const options = { group: 'g', slots: 2 }
  await createGroup(url, options)
  await stopReplica()
  let most = 0
  const look = async () => {
    const [{ count }] = await primary.query(CONNECTIONS, [new URL(url).pathname.slice(1)])
    most = Math.max(most, Number(count))
    return primary.query(WAITING)
  }
  for (let i = 0; i < 3; i++) {
    const joining = t.throwsAsync(FlakeId.join(url, { ...options, waitMs: 7000 }), MAY_RUN)
    await Promise.all([joining, look()])
    t.is((await look()).length, 1)
  }
  const joining = FlakeId.join(url, { ...options, waitMs: 300_000 })
  for (let i = 0; i < 3; i++) t.is((await look()).length, 1)
  t.true(most <= 2, `${most} connections`)
  await startAgain()
  const flake = await joining
  t.is(flake.state, 'attached')
  await flake.close()
})

test('join() waits while semi-sync is temporarily off', async (t) => {
  const { primary, url, stopReplica, startAgain } = await startPair(t)
  const options = { group: 'g', slots: 2 }
  await createGroup(url, options)
  await primary.query('SET GLOBAL rpl_semi_sync_master_timeout = 1')
  await stopReplica()
  await primary.query('CREATE DATABASE another') // no replica acknowledges it, so the status is OFF
  await t.throwsAsync(FlakeId.join(url, { ...options, waitMs: 1 }), OFF)
  const joining = FlakeId.join(url, { ...options, waitMs: 300_000 })
  await startAgain()
  await (await joining).close()
})

test('a lock that another session holds ends a statement, and delays no other group', async (t) => {
  const { primary, url } = await startPair(t)
  for (const [kind, open] of Object.entries(OWN_CLIENTS)) {
    const store = new DatabaseStore(new MysqlRecords(open(url)))
    t.teardown(() => store.close())
    // In the order of the index: a locked range ends at the record before it.
    const [free, , held] = [
      await openGroup(store, `${kind} 1`),
      await openGroup(store, `${kind} 2`),
      await openGroup(store, `${kind} 3`),
    ]
    const session = await (await newClient(t, url, 'a pool of mysql2')).getConnection()
    await session.query('START TRANSACTION')
    await session.query(`SELECT * FROM flakeforge_record WHERE group_name = ? FOR UPDATE`, [`${kind} 3`])
    const error = await t.throwsAsync(held.acquire(), { ...STORE, message: /Lock wait timeout exceeded/ })
    t.true(isPassing(error))
    await until(() => free.acquire().catch(() => false)) // the last statement for the other group ends within a second
    t.is((await primary.query(LOCKED)).length, 0)
    await session.query('ROLLBACK')
    session.release()
    t.truthy(await held.acquire())
  }
})

const OWN_CLIENTS = { mysql2: (url) => openMysql2(mysql2, url), mariadb: (url) => openMariadb(mariadb, url) }
const MEMBERS = 8

for (const [name, open] of Object.entries(OWN_CLIENTS)) {
  test(`${name}: while the replica is unreachable or the server is frozen, a member has at most two connections`, async (t) => {
    const { primary, url, stopReplica, startAgain } = await startPair(t)
    const stores = Array.from({ length: MEMBERS }, () => new DatabaseStore(new MysqlRecords(open(url))))
    t.teardown(() => Promise.all(stores.map((store) => store.close())))
    const members = []
    for (const [i, store] of stores.entries()) members.push(await openGroup(store, `group ${i}`))
    await stopReplica()
    let isDown = true
    const failures = []
    const trying = members.map(async ({ acquire }, i) => {
      failures[i] = 0
      while (isDown) {
        await t.throwsAsync(acquire(), STORE)
        failures[i] += 1
      }
    })
    let most = 0
    await until(async () => {
      const [{ count }] = await primary.query(CONNECTIONS, [new URL(url).pathname.slice(1)])
      most = Math.max(most, Number(count))
      return failures.every((count) => count >= 3)
    })
    isDown = false
    await Promise.all(trying)
    t.true(most <= 2 * MEMBERS, `${most} connections`)
    await startAgain()
    await until(async () => (await primary.query(WAITING)).length === 0)
    for (const { acquire } of members) await until(() => acquire().catch(() => false))

    await stopProcess(primary.pid)
    await Promise.all(members.map(({ acquire }) => t.throwsAsync(acquire(), STORE)))
    process.kill(primary.pid, 'SIGCONT')
    for (const { acquire } of members) await until(() => acquire().catch(() => false))
    const [{ count }] = await primary.query(CONNECTIONS, [new URL(url).pathname.slice(1)])
    t.true(Number(count) <= 2 * MEMBERS, `${count} connections`)
  })
}
