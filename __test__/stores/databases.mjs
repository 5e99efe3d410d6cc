// The databases that stores are tested on, in one table, so that one suite runs on all of them. A file of databases/
// has how to start and break a server, and a row for each client: adding a client is adding a row. It knows nothing of
// the rules.

import { createRequire } from 'node:module'
import { stopAfter } from '../servers/server.mjs'
import { ETCD } from './databases/etcd.mjs'
import { MYSQL } from './databases/mysql.mjs'
import { POSTGRES } from './databases/postgres.mjs'
import { REDIS } from './databases/redis.mjs'

const require = createRequire(import.meta.url)
export const { DatabaseStore } = require('../../target/rooms/lib/stores/database.js')

/** The clients for races. They connect to a server. */
const clientsOf = ({ rows, urlOf }) =>
  Object.fromEntries(
    Object.entries(rows)
      .filter(([, { isFull }]) => isFull)
      .map(([name, { connect }]) => [name, (server) => connect({ ...server, url: urlOf(server) })]),
  )

const withClients = (kind) => ({ ...kind, clients: clientsOf(kind) })

/** All of them, by the names of their test files. */
export const DATABASES = {
  redis: withClients(REDIS),
  postgres: withClients(POSTGRES),
  etcd: withClients(ETCD),
  mysql: withClients(MYSQL),
}

/** A server for this test only, which keeps acknowledged writes; and its address. */
export async function startDurable(t, kind, ...settings) {
  const server = stopAfter(t, await kind.start(...settings))
  return { server, url: kind.urlOf(server) }
}
