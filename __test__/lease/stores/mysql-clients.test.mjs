// The MySQL store by its clients: URLs in projects with either package or none, the user's pools and connections, and a
// server that is gone or hangs. What one read or swap does is in mysql-records.test.mjs.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import mariadb from 'mariadb'
import mysql2 from 'mysql2'
import { CLIENTS } from '../../servers/mysql.mjs'
import { startProxy } from '../../servers/proxy.mjs'
import { freePort, stopAfter, until } from '../../servers/server.mjs'
import { newProject, runIn } from '../../support/project.mjs'
import { openGroup, stepsOf, works } from '../../support/steps.mjs'
import { stopProcess } from '../../support/stop-process.mjs'
import { freshUrl, isInstalled, newClient, server, startAlone } from './mysql-shared.mjs'

const require = createRequire(import.meta.url)
const { DatabaseStore } = require('../../../target/rooms/lib/lease/stores/database.js')
const { mysqlStore, openMysql } = require('../../../target/rooms/lib/lease/stores/mysql.js')
const { MysqlRecords } = require('../../../target/rooms/lib/lease/stores/mysql/records.js')
const { openMariadb, openMysql2 } = require('../../../target/rooms/lib/lease/stores/mysql/url.js')

const test = isInstalled ? anyTest : anyTest.skip

const STORE = { code: 'ERR_FLAKE_STORE' }

const succeeds = (call) =>
  call.then(
    () => true,
    () => false,
  )

const storeOf = (client) => new DatabaseStore(new MysqlRecords(client))

/** A client of this kind, and a store on it. */
async function connect(t, url, kind, options) {
  const client = await newClient(t, url, kind, options)
  return { client, store: mysqlStore(client) }
}

/** How many clients are connected to this database. */
async function connected(url) {
  const query = 'SELECT count(*) AS count FROM information_schema.PROCESSLIST WHERE DB = ?'
  const [{ count }] = await server.query(query, [new URL(url).pathname.slice(1)])
  return Number(count)
}

for (const kind of Object.keys(CLIENTS)) {
  test(`${kind} takes every step, also several at once`, async (t) => {
    const { store } = await connect(t, await freshUrl(), kind)
    await works(t, store)
    const { acquire, list } = await openGroup(store, kind, { slots: 6 })
    const grants = await Promise.all(Array.from({ length: 6 }, () => acquire()))
    t.deepEqual(grants.map(({ slot }) => slot).sort(), [0, 1, 2, 3, 4, 5])
    t.is((await list()).length, 6)
  })
}

for (const kind of ['a pool of mysql2', 'a pool of mariadb']) {
  test(`${kind}: the user's pool stays open, and gets its connections back`, async (t) => {
    const { client, store } = await connect(t, await freshUrl(), kind, { connectionLimit: 2 })
    await Promise.all([works(t, store), works(t, store), works(t, store)])
    await store.close()
    await works(t, store)
    const both = await Promise.all([client.getConnection(), client.getConnection()])
    for (const connection of both) await connection.release()
  })

  test(`${kind}: a server that is gone is an error with its cause, and steps go on when it is back`, async (t) => {
    const own = await startAlone(t)
    const { store } = await connect(t, await freshUrl(own), kind)
    await works(t, store)
    await own.kill()
    const { create, acquire, list } = stepsOf(store, 'gone')
    const each = async (step) => {
      const error = await t.throwsAsync(step(), STORE)
      t.true(error.cause instanceof Error)
      // A pool of mariadb tries again until its own time is over, or ours.
      t.regex(error.message, /ECONNREFUSED|ECONNRESET|EPIPE|closed|socket|no answer within|pool timeout/i)
    }
    await Promise.all([create, acquire, list, () => store.advance('gone', 1n, 0n)].map(each))
    await own.start()
    // Connections that died may still be in the pool.
    await until(() => succeeds(store.list('back')))
    await works(t, store)
  })

  test(`${kind}: a server that hangs is an error in time, and steps go on when it answers`, async (t) => {
    const own = await startAlone(t)
    const { store } = await connect(t, await freshUrl(own), kind)
    const { acquire } = await openGroup(store, 'hangs')
    await stopProcess(own.pid)
    try {
      const start = performance.now()
      const error = await t.throwsAsync(acquire(), {
        ...STORE,
        message: /no answer within|did not finish a step within/,
      })
      t.true(performance.now() - start < 20_000)
      t.true(error.cause instanceof Error)
    } finally {
      process.kill(own.pid, 'SIGCONT')
    }
    await works(t, store)
  })
}

const POOLS = {
  'our own pool of mysql2': (_, url) => ({ store: storeOf(openMysql2(mysql2, url)) }),
  'our own pool of mariadb': (_, url) => ({ store: storeOf(openMariadb(mariadb, url)) }),
  'a pool of mysql2': connect,
  'a pool of mariadb': connect,
}

for (const [kind, open] of Object.entries(POOLS)) {
  test(`${kind}: a server that takes no writes any more, without a restart: the next connection goes to the new primary`, async (t) => {
    const own = await startAlone(t)
    const url = await freshUrl()
    await own.query(`CREATE DATABASE ${new URL(url).pathname.slice(1)}`)
    const proxy = stopAfter(t, await startProxy(own.port))
    const { store } = await open(t, url.replace(String(server.port), String(proxy.port)), kind)
    await works(t, store)
    await own.query('SET GLOBAL read_only = 1')
    proxy.leadTo(server.port)
    await t.throwsAsync(store.list('g'), { ...STORE, message: /read_only/ })
    await until(() => succeeds(store.list('g'))) // each connection that the pool still has is refused once
    await works(t, store)
    await store.close()
  })
}

test('a URL: a client of our own, which connects at the first step and ends with close()', async (t) => {
  const url = await freshUrl()
  for (const given of [url, url.replace('mysql:', 'mariadb:')]) {
    const store = openMysql(given)
    t.is(await connected(url), 0)
    await works(t, store)
    const open = await connected(url)
    t.true(open >= 1 && open <= 2, `${open}`)
    await store.close()
    await store.close()
    await t.throwsAsync(store.list('any'), { ...STORE, message: /closed/i })
    await until(async () => (await connected(url)) === 0)
  }
})

const OPEN = (call) =>
  `const store = require('./target/rooms/lib/lease/stores/mysql.js').openMysql(process.argv[1]); ${call}`

const USE_AND_CLOSE = OPEN(`
  Promise.all([store.advance('one', 1n, 1n), store.advance('two', 1n, 2n)]).then(async (values) => {
    await store.close()
    await store.close()
    console.log(values.map(({ number }) => number).join(), await store.advance('one', 1n, 1n).catch(({ code }) => code))
  })`)

for (const name of ['mysql2', 'mariadb']) {
  test(`a URL in a project with ${name} alone`, async (t) => {
    const project = await newProject(t, name)
    t.is(await runIn(project, USE_AND_CLOSE, await freshUrl()), '1,2 ERR_FLAKE_STORE')
    const nowhere = `mysql://root@127.0.0.1:${await freePort()}/d`
    const fails = OPEN(`store.list('g').catch(async ({ code, cause }) => {
      console.log(code, cause instanceof Error)
      await store.close()
    })`)
    t.is(await runIn(project, fails, nowhere), 'ERR_FLAKE_STORE true')
  })

  test(`${name}: a store of a URL that is not closed does not keep the process alive, but a step does`, async (t) => {
    const code = OPEN(`store.list('g').then(async () => {
      await store.list('g')
      const other = require('./target/rooms/lib/lease/stores/mysql.js').openMysql(process.argv[1])
      console.log(await other.list('g'))
    })`)
    t.is(await runIn(await newProject(t, name), code, await freshUrl()), '[]')
  })

  test(`${name}: a store of a URL does not keep the process alive while its server is away`, async (t) => {
    const own = await startAlone(t)
    const code = OPEN(`store.list('g').then(() => {
      process.kill(${own.pid}, 'SIGKILL')
      return store.list('g').catch(({ code }) => console.log(code))
    })`)
    t.is(await runIn(await newProject(t, name), code, await freshUrl(own)), 'ERR_FLAKE_STORE')
  })
}
