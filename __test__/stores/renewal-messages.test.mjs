// Errors that come after join(), in renewals and blocks: each names the store without secrets, and what to check there. Real
// servers change while members hold slots, for each client. A link in front of the server ends its connections.

import { chmod, chown, copyFile, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import anyTest from 'ava'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import * as mysql from '../servers/mysql.mjs'
import * as postgres from '../servers/postgres.mjs'
import { startProxy } from '../servers/proxy.mjs'
import * as redis from '../servers/redis.mjs'
import { freePort, freshFolder, stopAfter, until } from '../servers/server.mjs'
import { makeCertificate, makeExpired, withOpenssl } from '../support/certificates.mjs'
import { run } from '../support/command.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { happens, leaseOptions } from '../support/lease.mjs'
import { isRoot, Puppet } from '../support/processes.mjs'
import { turns } from '../support/turns.mjs'
import { freeze } from './behaviour/suite.mjs'

const require = createRequire(import.meta.url)
const { SegmentId, openStore } = lease

const SECRET = 'hunter2-zk'

/** Each waits most of its time, for the end of a window: two run at once, since each step has to end in 5 s. */
const inTurn = turns(2)

/** A client of a user, whose own events are not our concern. */
function ofUser(t, client, end) {
  client.on?.('error', () => {})
  t.teardown(end)
  return client
}

const REDIS = {
  isThere: redis.wantRedis() !== undefined,
  async start() {
    const server = await redis.startRedis()
    await server.cli('CONFIG', 'SET', 'requirepass', SECRET)
    return server
  },
  urlOf: (port) => `redis://:${SECRET}@127.0.0.1:${port}/1`,
  shown: (port) => `The store is 'redis://…@127.0.0.1:${port}/1'.`,
  clients: {
    ioredis: (t, url) => {
      const { Redis } = require('ioredis')
      const client = new Redis(url, { maxRetriesPerRequest: 1 })
      return lease.redisStore(ofUser(t, client, () => client.disconnect()))
    },
    'node-redis': async (t, url) => {
      const client = require('redis').createClient({ url })
      await ofUser(t, client, () => client.destroy()).connect()
      return lease.redisStore(client)
    },
  },
  shownOfClient: (port) => `The store is at 127.0.0.1:${port}.`,
  faults: {
    'another password': {
      make: (server) => server.cli('-a', SECRET, '--no-auth-warning', 'CONFIG', 'SET', 'requirepass', 'rotated'),
      check: 'Check the user and password.',
    },
  },
}

const SAFE_RULE = 'host all u all scram-sha-256\n'

const POSTGRES = {
  isThere: postgres.wantPostgres() !== undefined,
  async start() {
    const server = await postgres.startPostgres({ password_encryption: 'scram-sha-256' })
    await server.query(`CREATE ROLE u LOGIN PASSWORD '${SECRET}'`)
    await server.query('CREATE DATABASE app OWNER u')
    const rules = join(server.folder, 'data', 'pg_hba.conf')
    await writeFile(rules, `${SAFE_RULE}${await readFile(rules, 'utf8')}`)
    await server.query('SELECT pg_reload_conf()')
    return server
  },
  urlOf: (port) => `postgres://u:${SECRET}@127.0.0.1:${port}/app`,
  shown: (port) => `The store is 'postgres://…@127.0.0.1:${port}/app'.`,
  clients: {
    pg: (t, url) => {
      const { Pool } = require('pg')
      const { hostname: host, port, username: user, password } = new URL(url)
      const pool = new Pool({ host, port: Number(port), user, password, database: 'app' })
      return lease.postgresStore(ofUser(t, pool, () => pool.end()))
    },
    'postgres.js': (t, url) => {
      const sql = require('postgres')(url, { onnotice: () => {}, backoff: 0.1 })
      return lease.postgresStore(ofUser(t, sql, () => sql.end({ timeout: 1 })))
    },
  },
  shownOfClient: (port) => `The store is at 127.0.0.1:${port}/app.`,
  prepare: (server) => server.query('ALTER ROLE u SUPERUSER'),
  faults: {
    'another password': {
      make: (server) => server.query("ALTER ROLE u PASSWORD 'rotated'"),
      check: 'Check the user and password.',
    },
    'a database that is gone': {
      make: (server) => server.query('DROP DATABASE app WITH (FORCE)'),
      check: 'Check that this database exists there.',
    },
  },
}

const MYSQL = {
  isThere: mysql.wantMysql() !== undefined,
  async start() {
    const server = await mysql.startMysql()
    await server.query(`CREATE DATABASE app; CREATE USER u@'%' IDENTIFIED BY '${SECRET}'; GRANT ALL ON *.* TO u@'%'`)
    return server
  },
  urlOf: (port) => `mysql://u:${SECRET}@127.0.0.1:${port}/app`,
  shown: (port) => `The store is 'mysql://…@127.0.0.1:${port}/app'.`,
  clients: {
    mysql2: (t, url) => {
      const pool = require('mysql2/promise').createPool(url)
      return lease.mysqlStore(ofUser(t, pool, () => pool.end()))
    },
    mariadb: (t, url) => {
      const { hostname: host, port, username: user, password } = new URL(url)
      const settings = { host, port: Number(port), user, password, database: 'app', acquireTimeout: 2000 }
      const pool = require('mariadb').createPool(settings)
      return lease.mysqlStore(ofUser(t, pool, () => pool.end()))
    },
  },
  shownOfClient: (port) => `:${port}/app.`, // the settings of mariadb's pool are hidden, so it is what the server said
  faults: {
    'another password': {
      make: (server) => server.query("SET PASSWORD FOR u@'%' = PASSWORD('rotated')"),
      check: 'Check the user and password.',
    },
    'a database that is gone': {
      make: (server) => server.query('DROP DATABASE app'),
      check: 'Check that this database exists there.',
    },
  },
}

const ETCD = {
  isThere: wantEtcd() !== undefined,
  async start() {
    const server = await startEtcd()
    await server.ctl('user', 'add', `root:${SECRET}`)
    await server.ctl('user', 'grant-role', 'root', 'root')
    await server.ctl('auth', 'enable')
    return server
  },
  urlOf: (port) => `etcd://root:${SECRET}@127.0.0.1:${port}`,
  shown: (port) => `The store is 'etcd://…@127.0.0.1:${port}'.`,
  clients: {
    etcdStore: (_, url) => {
      const { host, password } = new URL(url)
      return lease.etcdStore({ endpoints: `http://${host}`, username: 'root', password })
    },
  },
  shownOfClient: (port) => `The store is at http://127.0.0.1:${port}.`,
  faults: {
    'another password': {
      async make(server) {
        const post = async (path, body, headers = {}) =>
          (await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
        const { token } = await post('/v3/auth/authenticate', { name: 'root', password: SECRET })
        await post('/v3/auth/user/changepw', { name: 'root', password: 'rotated' }, { authorization: token })
      },
      check: 'Check the user and password.',
    },
  },
}

/** The error with this code, once the call throws it. */
async function thrownBy(call, code) {
  let thrown
  await until(() => {
    try {
      call()
    } catch (error) {
      thrown = error
    }
    return thrown?.code === code
  })
  return thrown
}

const GONE = { make: (_, link) => link.stop(), check: 'Check that the server runs there' }
/** The system accepts connections for it, and nothing answers. */
const SILENT = { make: (server, _, t) => freeze(t, server), check: 'Check ' }

for (const [name, kind] of Object.entries({ REDIS, POSTGRES, MYSQL, ETCD })) {
  const test = kind.isThere ? anyTest : anyTest.skip
  const faults = { ...kind.faults, 'a server that is gone': GONE, 'a server that accepts and never answers': SILENT }
  for (const [what, fault] of Object.entries(faults))
    test(`${name}, ${what}: events, errors and blocks name the store and what to check`, (t) =>
      inTurn(async () => {
        const server = stopAfter(t, await kind.start())
        await kind.prepare?.(server)
        const link = await startProxy(server.port)
        t.teardown(() => link.stop())
        const url = kind.urlOf(link.port)
        const stores = {
          'an address': { store: openStore(url), shown: kind.shown(link.port) },
        }
        for (const [client, connect] of Object.entries(kind.clients))
          stores[client] = {
            store: await connect(t, url),
            shown: kind.shownOfClient(client === 'mariadb' ? server.port : link.port),
          }
        t.teardown(() => stores['an address'].store.close())
        const members = []
        for (const [client, { store, shown }] of Object.entries(stores)) {
          const options = leaseOptions({ group: `g ${client}`, ttlMs: 3000, skewMs: 500 })
          await FlakeId.createGroup(store, options)
          const flake = await FlakeId.join(store, options)
          t.teardown(() => flake.close().catch(() => {}))
          const ids = await SegmentId.open(store, { name: `c ${client}`, block: 10 })
          t.teardown(() => ids.close())
          members.push({ client, flake, ids, shown })
        }
        // On a slow machine, a renewal may have failed for another reason.
        await Promise.all(members.map(({ flake }) => happens(flake, 'renewed')))
        const failures = members.map(({ flake }) => happens(flake, 'renewal-failed'))
        await fault.make(server, link, t)
        link.cut()
        const messages = await Promise.all(
          members.map(async ({ client, flake, ids, shown }, i) => {
            const { cause } = await failures[i]
            const expired = await thrownBy(() => flake.next(), 'ERR_FLAKE_LEASE_EXPIRED')
            if (ids.stats.buffered > 0) ids.takeBigInts(ids.stats.buffered)
            const blocked = await thrownBy(() => ids.next(), 'ERR_FLAKE_STORE')
            return [cause, expired, blocked].map((error) => {
              const { message } = error
              t.true(message.includes(shown), `${client}: ${message}`)
              t.regex(message, / Check /, `${client}: ${message}`)
              t.is(message.split('The store is').length, 2, `${client}, once: ${message}`)
              t.false(JSON.stringify([message, error.stack, String(error.cause)]).includes(SECRET), message)
              return message
            })
          }),
        )
        // A call may end before its client has noticed the reason.
        t.true(
          messages.flat().some((message) => message.includes(fault.check)),
          messages.flat().join('\n'),
        )
      }))
}

// --- TLS ---

const NO_CLIENT_CERT = ['--tls-auth-clients', 'no']

/** How each server gets a certificate, and another one while it runs; new connections see it. */
const WITH_TLS = {
  REDIS: {
    isThere: REDIS.isThere,
    async start({ key, cert }) {
      const port = await freePort()
      const server = await redis.startRedis(
        '--tls-port',
        port,
        '--tls-cert-file',
        cert,
        '--tls-key-file',
        key,
        ...NO_CLIENT_CERT,
      )
      await server.cli('CONFIG', 'SET', 'requirepass', SECRET)
      return Object.assign(server, { address: `rediss://:${SECRET}@localhost:${port}` })
    },
    prepare: () => {},
    async rotate(server, { key, cert }) {
      const cli = (...words) => server.cli('-a', SECRET, '--no-auth-warning', ...words)
      await cli('CONFIG', 'SET', 'tls-cert-file', cert, 'tls-key-file', key)
      await cli('CLIENT', 'KILL', 'TYPE', 'normal')
    },
    shown: /The store is 'rediss:\/\/…@localhost:\d+'\./,
  },
  POSTGRES: {
    isThere: POSTGRES.isThere,
    async start({ key, cert }) {
      const server = await postgres.startPostgres()
      const address = `postgres://u:${SECRET}@localhost:${server.port}/postgres?sslmode=verify-full`
      Object.assign(server, { address })
      await this.rotate(server, { key, cert })
      return server
    },
    prepare: (server) => server.query(`CREATE ROLE u LOGIN SUPERUSER PASSWORD '${SECRET}'`),
    async rotate(server, { key, cert }) {
      const data = join(server.folder, 'data')
      const { uid, gid } = await stat(data)
      for (const [from, name] of [
        [key, 'server.key'],
        [cert, 'server.crt'],
      ]) {
        const to = join(data, name)
        await copyFile(from, to)
        await chmod(to, 0o600)
        if (isRoot) await chown(to, uid, gid)
      }
      await server.query('ALTER SYSTEM SET ssl = on')
      await server.query('SELECT pg_reload_conf()')
      await until(async () => (await server.query('SHOW ssl'))[0].ssl === 'on')
      await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'u'")
    },
    shown: /The store is 'postgres:\/\/…@localhost:\d+\/postgres\?…'\./,
  },
  MYSQL: {
    isThere: MYSQL.isThere,
    async start({ key, cert }) {
      const [ownKey, ownCert] = await ownCopies({ key, cert })
      const server = await mysql.startMysql({ 'ssl-key': ownKey, 'ssl-cert': ownCert })
      const address = `mysql://u:${SECRET}@localhost:${server.port}/app?sslmode=verify-full`
      return Object.assign(server, { address, ownKey, ownCert })
    },
    prepare: (server) =>
      server.query(`CREATE DATABASE app; CREATE USER u@'%' IDENTIFIED BY '${SECRET}'; GRANT ALL ON *.* TO u@'%'`),
    async rotate(server, { key, cert }) {
      await copyFile(key, server.ownKey)
      await copyFile(cert, server.ownCert)
      await server.query('FLUSH SSL; KILL USER u')
    },
    shown: /The store is 'mysql:\/\/…@localhost:\d+\/app\?…'\./,
  },
  ETCD: {
    isThere: ETCD.isThere,
    async start({ key, cert, ca }) {
      const [ownKey, ownCert] = await ownCopies({ key, cert })
      const options = ['--cert-file', ownCert, '--key-file', ownKey]
      const server = await startEtcd({
        scheme: 'https',
        options,
        ctlOptions: ['--cacert', ca, '--insecure-skip-tls-verify'],
      })
      return Object.assign(server, { address: `etcds://localhost:${server.port}`, ownKey, ownCert })
    },
    prepare: () => {},
    async rotate(server, { key, cert }) {
      await copyFile(key, server.ownKey)
      await copyFile(cert, server.ownCert)
      await server.kill('SIGTERM') // it reads them for each connection, and Node keeps its own open
      await server.start()
    },
    shown: /The store is 'etcds:\/\/localhost:\d+'\./,
  },
}

let copies
/** Files of a server, which change later. */
async function ownCopies({ key, cert }) {
  copies ??= await freshFolder('certificates')
  const number = await freePort()
  const own = [join(copies, `${number}.key`), join(copies, `${number}.crt`)]
  await copyFile(key, own[0])
  await copyFile(cert, own[1])
  return own
}

let made
/** A CA, and certificates of a server at localhost: one that it signed, one that has expired, and one that it did not sign. */
function certificates() {
  made ??= freshFolder('renewal-tls').then(async (folder) => {
    const ca = await makeCertificate(folder, 'ca')
    const right = await makeCertificate(folder, 'right', ca, 'DNS:localhost,IP:127.0.0.1')
    const expired = await makeExpired(folder, 'expired', ca, 'DNS:localhost,IP:127.0.0.1')
    const own = await makeCertificate(folder, 'own', undefined, 'DNS:localhost,IP:127.0.0.1')
    return { ca, right, 'has expired': expired, 'is of another authority': own }
  })
  return made
}
anyTest.after.always(async () => {
  if (made !== undefined) await rm((await made).ca.key.replace(/[^/\\]+$/, ''), { recursive: true, force: true })
})

const CERTIFICATES = 'Check the certificates, and that client and server agree on TLS.'

for (const [name, kind] of Object.entries(WITH_TLS)) {
  const test = kind.isThere ? withOpenssl(anyTest) : anyTest.skip
  for (const fault of ['has expired', 'is of another authority'])
    test(`${name}, a new certificate that ${fault}: the error names the store, and the certificates`, (t) =>
      inTurn(async () => {
        const { ca, right, [fault]: wrong } = await certificates()
        const server = stopAfter(t, await kind.start({ ...right, ca: ca.cert }))
        await kind.prepare(server)
        const env = { NODE_EXTRA_CA_CERTS: ca.cert }
        const created = await run(['create', server.address, 'g', '--ttl', '3000', '--skew', '500'], { env })
        t.is(created.code, 0, created.stderr)
        const member = new Puppet(t, { env })
        await member.call('join', server.address, { group: 'g', ttlMs: 3000, skewMs: 500, waitMs: 20_000 })
        await kind.rotate(server, wrong)
        let refusal
        // A call may end before its client has noticed the reason; a later one has it.
        await until(
          async () => {
            refusal = await member.call('next').then(
              () => undefined,
              (error) => error,
            )
            return refusal?.code === 'ERR_FLAKE_LEASE_EXPIRED' && refusal.message.includes(CERTIFICATES)
          },
          { limitMs: 40_000, state: () => refusal?.message },
        )
        const warnings = await member.call('warnings')
        const warned = warnings.find(({ code }) => code === 'FLAKEFORGE_RENEWAL')?.message
        for (const message of [refusal.message, warned]) {
          t.regex(message, kind.shown)
          t.regex(message, / Check /)
          t.false(message.includes(SECRET), message)
        }
      }))
}
