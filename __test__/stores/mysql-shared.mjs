// The MariaDB that the tests of one file share, and what a single test creates: a database, a client, or its own
// server, which end with the test. It knows no store.

import anyTest from 'ava'
import { CLIENTS, startMysql, wantMysql } from '../servers/mysql.mjs'
import { stopAfter } from '../servers/server.mjs'

export const isInstalled = wantMysql() !== undefined

/** It starts with the first test. */
export let server
let databases = 0

anyTest.before(async () => {
  if (isInstalled) server = await startMysql()
})

anyTest.after.always(() => server?.stop())

/** The address of a new database. */
export const freshUrl = (on = server) => on.freshUrl(`d${databases++}`)

/** A client of this kind. */
export async function newClient(t, url, kind, options = {}) {
  const { client, end } = await CLIENTS[kind](url, options)
  t.teardown(() => end().catch(() => {}))
  return client
}

/** A server for one test only. */
export async function startAlone(t, settings) {
  return stopAfter(t, await startMysql(settings))
}
