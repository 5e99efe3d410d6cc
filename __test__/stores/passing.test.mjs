// What join() does when a real server refuses: it tries again within `waitMs` if the reason passes without help, and
// otherwise ends at once.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { fake, startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { testInTurn } from '../support/turns.mjs'
import { once } from '../support/waits.mjs'

const { createGroup, FlakeId } = createRequire(import.meta.url)('../../dist/index.cjs')

const GROUP = { group: 'g', slots: 2 }
/** So long that a test never waits for its end. */
const LONG = { ...GROUP, waitMs: 1_000_000 }

/** How to start each server, and the address of its store. */
const SERVERS = {
  redis: { isThere: wantRedis(), start: startRedis, urlOf: ({ url }) => url.replace('//', '//member:pw@') },
  postgres: { isThere: wantPostgres(), start: startPostgres, urlOf: (server) => server.urlOf('member') },
  mysql: { isThere: wantMysql(), start: startMysql, urlOf: (server) => server.urlOf('ids', 'member') },
}

/** The store's own user, so that the server can refuse this one alone. */
const PREPARE = {
  redis: ({ cli }) => cli('ACL', 'SETUSER', 'member', 'on', '>pw', '~*', '+@all'),
  postgres: ({ query }) => query('CREATE ROLE member LOGIN; GRANT CREATE ON SCHEMA public TO member'),
  mysql: ({ query }) =>
    query('CREATE DATABASE ids; CREATE USER member; GRANT SELECT, INSERT, UPDATE, CREATE ON ids.* TO member'),
}

const allSlots = async ({ cli }, change, state) => {
  await cli('CLUSTER', change, '0', '16383')
  await until(async () => (await cli('CLUSTER', 'INFO')).includes(`cluster_state:${state}`))
}

/** `refuse()` makes a server refuse; `permit()` ends that, as a failover or a less busy server does. */
const PASSING = {
  'redis: replicas are missing': {
    says: /NOREPLICAS.*min-replicas-to-write/,
    refuse: ({ cli }) => cli('CONFIG', 'SET', 'min-replicas-to-write', '1'),
    permit: ({ cli }) => cli('CONFIG', 'SET', 'min-replicas-to-write', '0'),
  },
  'redis: it is loading its data': {
    options: ['--enable-debug-command', 'yes', '--loading-process-events-interval-bytes', '1024'],
    says: /LOADING/,
    refuse: async ({ cli }) => {
      await cli('DEBUG', 'POPULATE', '20000')
      await cli('CONFIG', 'SET', 'key-load-delay', '1000')
      cli('DEBUG', 'RELOAD').catch(() => {})
      await until(async () => (await cli('GET', 'any')).includes('LOADING'))
    },
    permit: () => {}, // it ends without help
  },
  'redis: a cluster lacks a primary': {
    options: ['--cluster-enabled', 'yes'],
    prepare: (server) => allSlots(server, 'ADDSLOTSRANGE', 'ok'),
    says: /CLUSTERDOWN/,
    refuse: (server) => allSlots(server, 'DELSLOTSRANGE', 'fail'),
    permit: (server) => allSlots(server, 'ADDSLOTSRANGE', 'ok'),
  },
  'postgres: other sessions have all connections': {
    says: /too many connections/,
    refuse: ({ query }) => query('ALTER ROLE member CONNECTION LIMIT 0'),
    permit: ({ query }) => query('ALTER ROLE member CONNECTION LIMIT -1'),
  },
  'mysql: it is read_only': {
    says: /read_only.*primary/,
    refuse: ({ query }) => query('SET GLOBAL read_only = 1'),
    permit: ({ query }) => query('SET GLOBAL read_only = 0'),
  },
}

/** Refusals that stay until an operator changes something. */
const LASTING = {
  'redis: the user lacks a right': {
    says: /can't run this command.*ACL SETUSER/,
    refuse: ({ cli }) => cli('ACL', 'SETUSER', 'member', '-hset'),
  },
  'redis: it is full': {
    says: /OOM.*maxmemory/,
    refuse: ({ cli }) => cli('CONFIG', 'SET', 'maxmemory', '1'),
  },
  'postgres: the role lacks a right': {
    says: /this role may not use the table/,
    refuse: ({ query }) =>
      query('ALTER TABLE flakeforge_record OWNER TO tester; GRANT SELECT ON flakeforge_record TO member'),
  },
  'postgres: the database is read-only': {
    says: /takes no writes.*default_transaction_read_only/,
    refuse: ({ query }) => query('ALTER ROLE member SET default_transaction_read_only = on'),
  },
  'mysql: the user lacks a right': {
    says: /this user may not use or create them/,
    refuse: ({ query }) => query('REVOKE UPDATE, INSERT ON ids.* FROM member'),
  },
}

/** A server with a group, which refuses now. */
async function startRefusing(t, name, { options = [], prepare = () => {}, refuse }) {
  const [store] = name.split(':')
  const { start, urlOf } = SERVERS[store]
  const server = stopAfter(t, await start(...options))
  const bound = { ...server, cli: server.cli, query: (text) => server.query(text) }
  await PREPARE[store](bound)
  await prepare(bound)
  const url = urlOf(server)
  await createGroup(url, GROUP)
  await refuse(bound)
  return { server: bound, url }
}

const testsOn = Object.fromEntries(
  Object.entries(SERVERS).map(([name, { isThere }]) => [
    name,
    testInTurn(isThere === undefined ? anyTest.skip : anyTest, 2),
  ]),
)
const testFor = (name) => testsOn[name.split(':')[0]]

/** One member per process, however often it waits. */
const warnings = []
process.on('warning', ({ code, message }) => code === 'FLAKEFORGE_WAIT' && warnings.push(message))

for (const [name, { permit, says, ...how }] of Object.entries(PASSING)) {
  testFor(name)(`${name}: join() has its slot once the reason has passed`, async (t) => {
    const { server, url } = await startRefusing(t, name, how)
    await t.throwsAsync(FlakeId.join(url, { ...GROUP, waitMs: 1 }), { code: 'ERR_FLAKE_STORE', message: says })
    const joining = FlakeId.join(url, LONG)
    await permit(server)
    const flake = await joining
    t.is(flake.state, 'attached')
    await flake.close()
    t.is(warnings.length, 1)
    t.regex(warnings[0], /^join\(\) has no slot of group 'g' yet: .*It retries for up to \d+ ms\.$/)
  })
}

for (const [name, { says, ...how }] of Object.entries(LASTING)) {
  testFor(name)(`${name}: join() ends at once`, async (t) => {
    const { url } = await startRefusing(t, name, how)
    const error = await t.throwsAsync(FlakeId.join(url, LONG), { code: 'ERR_FLAKE_STORE', message: says })
    t.true(error.cause instanceof Error)
  })
}

const testEtcd = wantEtcd() === undefined ? anyTest.skip : anyTest

testEtcd('etcd: join() has its slot once there is a leader', async (t) => {
  const etcd = stopAfter(t, await startEtcd())
  const real = `http://127.0.0.1:${new URL(etcd.url).port}`
  let isRefusing = false
  let refused = 0
  const url = await fake(t, async (request, response) => {
    const [body] = request.method === 'POST' ? await once(request.setEncoding('utf8'), 'data') : ['']
    if (isRefusing) {
      refused += 1
      response.writeHead(503).end(JSON.stringify({ code: 14, message: 'etcdserver: leader changed' }))
      return
    }
    const answer = await fetch(real + request.url, { method: 'POST', body })
    response.writeHead(answer.status, { date: answer.headers.get('date') }).end(await answer.text())
  })
  const store = url.replace('http', 'etcd')
  await createGroup(store, GROUP)
  isRefusing = true
  const joining = FlakeId.join(store, LONG)
  await until(() => refused > 2)
  isRefusing = false
  const flake = await joining
  t.is(flake.state, 'attached')
  await flake.close()
})
