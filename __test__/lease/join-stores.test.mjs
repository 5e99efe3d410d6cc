// FlakeId.join() on real servers, by URL and by each client of the user: consecutive windows, released slots, ended
// groups, and unreachable servers. The other tests of this folder cover the holder's logic.

import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import anyTest from 'ava'
import pg from 'pg'
import { CLIENTS as MYSQL } from '../servers/mysql.mjs'
import { CLIENTS as POSTGRES } from '../servers/postgres.mjs'
import { startProxy } from '../servers/proxy.mjs'
import { CLIENTS as REDIS } from '../servers/redis.mjs'
import { freePort, stopAfter } from '../servers/server.mjs'
import { DATABASES } from '../stores/databases.mjs'
import { textOf } from '../support/command.mjs'
import { FlakeId, isAscending, jsonOfChild, lease, numberOf } from '../support/index.mjs'
import { allRefuse, blockingCalls, flow, happens, joinAs, leaseOptions, record, tryJoin } from '../support/lease.mjs'
import { Puppet } from '../support/processes.mjs'
import { untilAnswered } from '../support/steps.mjs'
import { turns } from '../support/turns.mjs'

const { createGroup } = FlakeId
const { etcdStore, mysqlStore, openStore, postgresStore, redisStore } = lease
const byUrl =
  ({ urlOf }) =>
  (server) => ({ given: urlOf(server) })

async function byRedis(connect, server) {
  const { client, end } = await connect(server)
  return { given: redisStore(client), end, close: () => client.quit() }
}

function byPostgres(connect, server) {
  const { client, end } = connect(server.url)
  return { given: postgresStore(client), end, close: end }
}

async function byMysql(connect, server) {
  const { client, end } = await connect(DATABASES.mysql.urlOf(server))
  return { given: mysqlStore(client), end, close: end }
}

async function byPgClient(server) {
  const client = new pg.Client(server.url)
  client.on('error', () => {})
  await client.connect()
  return { given: postgresStore(client), end: () => client.end() }
}

/** Each store with the ways to name it. */
const STORES = {
  redis: {
    ...DATABASES.redis,
    ways: {
      URL: byUrl(DATABASES.redis),
      'URL of Valkey': ({ url }) => ({ given: url.replace('redis:', 'valkey:') }),
      ...Object.fromEntries(
        Object.entries(REDIS).map(([name, connect]) => [name, (server) => byRedis(connect, server)]),
      ),
    },
  },
  postgres: {
    ...DATABASES.postgres,
    ways: {
      URL: byUrl(DATABASES.postgres),
      pg: (server) => byPostgres(POSTGRES.pg, server),
      'pg, one client': byPgClient,
      'postgres.js': (server) => byPostgres(POSTGRES['postgres.js'], server),
    },
  },
  mysql: {
    ...DATABASES.mysql,
    ways: {
      URL: byUrl(DATABASES.mysql),
      mysql2: (server) => byMysql(MYSQL['a pool of mysql2'], server),
      mariadb: (server) => byMysql(MYSQL['a pool of mariadb'], server),
    },
  },
  etcd: {
    ...DATABASES.etcd,
    ways: { URL: byUrl(DATABASES.etcd), etcdStore: (server) => ({ given: etcdStore({ endpoints: server.url }) }) },
  },
}

const servers = {}
const serverOf = (kind) => {
  servers[kind] ??= STORES[kind].start()
  return servers[kind]
}

anyTest.after.always(() => Promise.all(Object.values(servers).map(async (server) => (await server).stop())))

let groups = 0

/** The first call of each test is the most expensive: it connects, and checks the server's settings. */
const inTurn = turns(8)

/** Renewals that leave time for work before the next one, which comes 2 s after the last. */
const UNHURRIED = { ttlMs: 6000 }

/** These stores lose nothing, so their groups are quiet for as long as their windows last, and no longer. */
const DURABLE = { durable: true }

/** Options of a separate group, with short windows, created on this store. */
async function ownGroup(given, more = {}) {
  const options = leaseOptions({ skewMs: 500, waitMs: 20_000, group: `group ${groups++}`, ...more })
  await inTurn(() => createGroup(given, options))
  return options
}

/** Generates IDs until a call reports why there are no more: the IDs, and that error. */
async function useUp(flake) {
  const ids = []
  for (;;) {
    try {
      ids.push(flake.nextBigInt())
    } catch (error) {
      if (error.code !== 'ERR_FLAKE_OVERFLOW') return { ids, error }
    }
    await sleep(5)
  }
}

for (const [kind, { isInstalled, start, urlOf, crash, ways }] of Object.entries(STORES)) {
  const test = isInstalled() ? anyTest : anyTest.skip

  for (const [way, open] of Object.entries(ways)) {
    test(`${kind} by ${way}: windows follow each other, and close() passes the slot to a waiting member`, async (t) => {
      const { given, end } = await open(await serverOf(kind))
      if (end) t.teardown(end)
      const options = await ownGroup(given, { ...UNHURRIED, slots: 1 })
      const flake = await joinAs(t, given, options)
      t.is(flake.slot, 0)
      t.is(flake.id, 0)
      const [before, told] = [flake.expires, record(flake)]
      const firstEnd = before.getTime()
      const renewals = () => told.filter(([name]) => name === 'renewed').length
      const ids = await flow(flake, () => renewals() >= 3 && Date.now() > firstEnd)
      ids.push(numberOf(await flake.nextAsync())) // the last one may be old by now, on a busy machine
      t.true(isAscending(ids))
      t.true(flake.decode(ids.at(-1)).timestamp > firstEnd, 'beyond the first window')
      t.true(flake.expires > before)

      const error = await t.throwsAsync(tryJoin(given, { ...options, waitMs: 3000 }), { code: 'ERR_FLAKE_EXHAUSTED' })
      t.true(error.retryAt.getTime() > firstEnd)
      const waiting = joinAs(t, given, options)
      await sleep(50)
      const last = numberOf(await flake.nextAsync())
      await flake.close()
      t.is(flake.state, 'detached')
      t.throws(() => flake.next(), { code: 'ERR_FLAKE_DETACHED' })
      const other = await waiting
      t.is(other.slot, 0)
      t.true(numberOf(await other.nextAsync()) > last)
    })

    test(`${kind} by ${way}: a released slot is free at once`, async (t) => {
      const { given, end } = await open(await serverOf(kind))
      if (end) t.teardown(end)
      const options = await ownGroup(given, { slots: 1, ttlMs: 60_000, waitMs: 30_000 })
      for (let i = 0; i < 3; i++) {
        const flake = await FlakeId.join(given, options)
        flake.nextBigInt()
        await flake.close()
        t.is(flake.slot, undefined)
      }
      t.is((await joinAs(t, given, options)).slot, 0)
    })
  }

  test(`${kind}: a renewal on a silently dead connection ends after its share of ttlMs, and later ones work`, async (t) => {
    const server = await serverOf(kind)
    const { port } = new URL(urlOf(server))
    const proxy = stopAfter(t, await startProxy(Number(port)))
    const store = openStore(urlOf(server).replace(`:${port}`, `:${proxy.port}`))
    t.teardown(() => store.close())
    const [group, owner] = [`group ${groups++}`, 'a'.repeat(32)]
    const ttlMs = 9000 // a third of it is enough for a renewal on a busy machine
    const config = { fingerprint: 'bits', slots: 1, ttlMs, skewMs: 500, durable: false }
    await untilAnswered(() => store.create(group, config))
    const { slot, hi } = await untilAnswered(() => store.acquire(group, { config, owner, host: 'h', joins: true }))
    const renew = () => store.renew(group, { config, slot, owner, hi })
    await untilAnswered(renew)
    proxy.lose()
    const { message } = await t.throwsAsync(renew(), { code: 'ERR_FLAKE_STORE' })
    const [, within] = /within (\d+) ms/.exec(message) ?? []
    t.true(Number(within) <= ttlMs / 3 || (kind === 'etcd' && message.includes('due to timeout')), message)
    t.is((await untilAnswered(renew)).slot, slot)
  })

  test(`${kind}: members that disagree: the error names both sides, and the others continue`, async (t) => {
    const given = urlOf(await serverOf(kind))
    const options = await ownGroup(given, { slots: 8 })
    const flake = await joinAs(t, given, options)
    const others = [
      [{ slots: 9 }, /slots 8.*slots 9/s],
      [{ ttlMs: 3000 }, /ttlMs 2000.*ttlMs 3000/s],
      [{ skewMs: 600 }, /skewMs 500.*skewMs 600/s],
      [{ durable: true }, /durable false.*durable true/s],
      [{ layout: 'instagram' }, /layout 'flake'.* with epoch .*layout .*'instagram'.* with epoch /s],
      [{ epoch: 1 }, /epoch/],
      [{ datacenter: 3 }, /datacenter = 3/],
      [{ nodeOffset: 1 }, /nodeOffset 1/],
      [{ idOffset: 1n }, /idOffset/],
    ]
    for (const [more, message] of others) {
      const error = await t.throwsAsync(tryJoin(given, { ...options, ...more }), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
      t.regex(error.message, message)
      t.truthy(error.theirs)
      t.not(error.theirs, error.ours)
    }
    await t.throwsAsync(createGroup(given, { ...options, slots: 9 }), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
    await happens(flake, 'renewed')
    await t.notThrowsAsync(flake.nextAsync())
  })

  test(`${kind}: destroy() reaches the other member; the next group starts above its last ID`, async (t) => {
    const given = urlOf(await serverOf(kind))
    const options = await ownGroup(given, DURABLE)
    const [one, two] = [await joinAs(t, given, options), await joinAs(t, given, options)]
    t.not(one.slot, two.slot)
    const last = numberOf(await two.nextAsync())
    const reached = happens(two, 'destroyed')
    await one.destroy()
    t.is(one.state, 'destroyed')
    await reached
    t.throws(() => two.next(), { code: 'ERR_FLAKE_DESTROYED' })
    await t.throwsAsync(two.nextAsync(), { code: 'ERR_FLAKE_DESTROYED' })
    await t.throwsAsync(two.attach(), { code: 'ERR_FLAKE_DESTROYED' })
    const next = await joinAs(t, given, options)
    t.true(numberOf(await next.nextAsync()) >> 22n > last >> 22n)
  })

  test(`${kind}: another process destroys the group: IDs until the next renewal, and then no other error first`, async (t) => {
    const given = urlOf(await serverOf(kind))
    const options = await ownGroup(given, { ...UNHURRIED, ...DURABLE })
    const member = new Puppet(t)
    await member.call('join', given, options)
    const ids = [await member.call('next')]
    const store = openStore(given)
    t.teardown(() => store.close())
    await store.destroy(options.group)
    let refusal
    while (refusal === undefined) {
      refusal = await member.call('next').then(
        (id) => void ids.push(id),
        (error) => error,
      )
      await sleep(5)
    }
    t.is(refusal.code, 'ERR_FLAKE_DESTROYED')
    t.is(new Set(ids).size, ids.length)
    t.is((await member.call('state')).state, 'destroyed')
    for (const call of ['next', 'nextAsync', 'attach'])
      await t.throwsAsync(member.call(call), { code: 'ERR_FLAKE_DESTROYED' }, call)
  })

  test(`${kind}: a name that now refers to another group, on a store object that both use: no slot of it`, async (t) => {
    const { given, end } = await Object.values(ways).at(-1)(await serverOf(kind))
    if (end) t.teardown(end)
    const options = await ownGroup(given, { ...UNHURRIED, ...DURABLE })
    const [renewing, detached] = [await joinAs(t, given, options), await joinAs(t, given, options)]
    const { slot } = renewing
    await detached.detach()
    const ended = happens(renewing, 'destroyed')
    await happens(renewing, 'renewed')
    await given.destroy(options.group)
    const others = { ...options, layout: 'discord', epoch: undefined }
    await createGroup(given, others)
    await t.throwsAsync(detached.attach(), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
    t.like(await ended, { group: options.group, slot })
    await allRefuse(t, renewing, 'ERR_FLAKE_DESTROYED')
    t.is((await joinAs(t, given, others)).layout.name, 'discord')
  })

  test(`${kind}: an unreachable server: IDs to the window's end, then errors; calls wait until it is back`, async (t) => {
    const server = stopAfter(t, await start())
    const given = urlOf(server)
    const flake = await joinAs(t, given, await ownGroup(given, { ...UNHURRIED, ...DURABLE }))
    const { slot } = flake
    await happens(flake, 'renewed')
    await crash(server)
    const killedAt = Date.now()
    const { ids, error } = await useUp(flake)
    const end = flake.expires.getTime() // a renewal may have been answered while the server was being killed
    t.true(Date.now() > end, 'IDs to the very end')
    t.true(end <= killedAt + UNHURRIED.ttlMs, 'no renewal without a server')
    t.is(error.code, 'ERR_FLAKE_LEASE_EXPIRED')
    t.is(error.slot, slot)
    t.is(error.cause.code, 'ERR_FLAKE_STORE')
    t.is(flake.state, 'attached', 'the slot is still held, as far as the member knows')
    await allRefuse(t, flake, 'ERR_FLAKE_LEASE_EXPIRED', blockingCalls)
    t.true(ids.length > 0)
    t.true(isAscending(ids))
    t.true(flake.decode(ids.at(-1)).timestamp <= end, 'none beyond the window')
    const waiting = [flake.nextAsync(), flake.takeAsync(3), flake.nextAsync()]
    await server.start()
    const later = (await Promise.all(waiting)).map((id) => numberOf(id.subarray(0, 8)))
    t.true(isAscending([ids.at(-1), ...later]))
    t.true(later.every((id) => flake.decode(id).timestamp > end))
    t.notThrows(() => flake.next())
    t.is(flake.state, 'attached')
  })

  test(`${kind}: members of two processes never share a slot, nor an ID`, async (t) => {
    const given = urlOf(await serverOf(kind))
    const { epoch: _, ...options } = await ownGroup(given, { epoch: undefined, slots: 8 })
    const puppets = Array.from({ length: 3 }, () => new Puppet(t))
    const slots = await Promise.all(puppets.map((puppet) => puppet.call('join', given, options)))
    t.is(new Set(slots).size, 3)
    const ids = (await Promise.all(puppets.map((puppet) => puppet.take(3000)))).flat()
    t.is(new Set(ids).size, 9000)
  })

  test(`${kind}: a group that was never created is quiet for 65 s: a warning, and an error where waitMs is shorter`, async (t) => {
    const given = urlOf(await serverOf(kind))
    const group = `never created ${kind}`
    const warnings = []
    const listener = (warning) => warnings.push(warning)
    process.on('warning', listener)
    t.teardown(() => process.off('warning', listener))
    const before = Date.now()
    const error = await t.throwsAsync(tryJoin(given, { group, waitMs: 30_000 }), { code: 'ERR_FLAKE_QUIET' })
    const quietMs = error.retryAt.getTime() - before
    t.true(quietMs > 63_000, `${quietMs} ms`)
    t.true(error.retryAt.getTime() - Date.now() > 40_000, 'there was no wait')
    await sleep(10)
    const [warning] = warnings.filter(({ message }) => message.includes(group))
    t.is(warning?.code, 'FLAKEFORGE_QUIET')
    const [, seconds, address, rest] = /no slot is granted for (\d+) s, .*: npx flakeforge create (\S+) (.*)$/.exec(
      warning.message,
    )
    t.true(Number(seconds) > 63 && Number(seconds) < 68, warning.message)
    t.is(rest, `'${group}'`)
    t.is(address.replaceAll("'", ''), given.replace(/\/\/.*@/, '//…@'))

    const made = `${group}, by the command`
    await textOf(t, ['create', given, made])
    const flake = await FlakeId.join(given, { group: made, waitMs: 5000 })
    await flake.close()
  })

  test(`${kind}: no server: ERR_FLAKE_STORE with its cause, and no password`, async (t) => {
    const given = `${kind}://user:s3cret@127.0.0.1:${await freePort()}${kind === 'mysql' ? '/db' : ''}`
    for (const call of [() => tryJoin(given), () => createGroup(given)]) {
      const error = await t.throwsAsync(call, { code: 'ERR_FLAKE_STORE' })
      t.true(error.cause instanceof Error)
      t.false(inspect(error, { depth: 9 }).includes('s3cret'))
    }
  })
}

for (const [kind, way] of [
  ['redis', 'ioredis'],
  ['redis', 'node-redis'],
  ['postgres', 'pg'],
  ['postgres', 'postgres.js'],
  ['mysql', 'mysql2'],
  ['mysql', 'mariadb'],
]) {
  const test = STORES[kind].isInstalled() ? anyTest : anyTest.skip
  test(`${kind}: a ${way} client that its owner closes: IDs to the window's end, then ERR_FLAKE_LEASE_EXPIRED`, async (t) => {
    const { given, close } = await STORES[kind].ways[way](await serverOf(kind))
    const flake = await joinAs(t, given, await ownGroup(given, UNHURRIED))
    t.notThrows(() => flake.next())
    await close()
    const { ids, error } = await useUp(flake)
    t.true(ids.length > 0)
    t.is(error.code, 'ERR_FLAKE_LEASE_EXPIRED')
    t.is(error.cause.code, 'ERR_FLAKE_STORE')
    await t.throwsAsync(tryJoin(given, { group: 'another' }), { code: 'ERR_FLAKE_STORE' })
    await flake.close()
    t.is(flake.state, 'detached')
  })
}

const PACKAGES = {
  'redis://localhost': /npm install ioredis.*redis/,
  'valkey://localhost': /a valkey:.*npm install ioredis.*iovalkey.*redis/,
  'postgres://localhost/db': /npm install pg.*postgres/,
  'mysql://localhost/db': /npm install mysql2.*mariadb/,
}

for (const [url, message] of Object.entries(PACKAGES)) {
  anyTest(`${url} without its packages: the error says what to install`, async (t) => {
    const errors = await jsonOfChild(
      t,
      `import Module from 'node:module'
      const resolve = Module._resolveFilename
      Module._resolveFilename = (name, ...rest) => {
        const isHidden = ['ioredis', 'iovalkey', 'redis', 'pg', 'postgres', 'mysql2', 'mariadb'].includes(name.split('/')[0])
        return resolve.call(Module, isHidden ? 'no-such-package' : name, ...rest)
      }
      const errors = []
      const say = ({ code, message }) => errors.push([code, message])
      await FlakeId.join('${url}').catch(say)
      await FlakeId.createGroup('${url}').catch(say)
      await lease.SegmentId.open('${url}', { name: 'a' }).catch(say)
      console.log(JSON.stringify(errors))`,
    )
    t.is(errors.length, 3)
    for (const [code, text] of errors) {
      t.is(code, 'ERR_FLAKE_STORE')
      t.regex(text, message)
    }
  })
}

const ODD = [
  'mysql://user:s3cret@host',
  'mysql://user:s3cret/more@host',
  'mysql://user:s3cret@more@host',
  'postgress://localhost/db?user=u&password=s3cret',
  'postgress://localhost/db?user=u&password=p@s3cret',
  'mysql://user:s3cret?more@host',
  'localhost/db?password=s3cret',
  'redis://localhost/db?password=s3cret',
  'etcd://host?password=s3cret',
  'redis+tls://user:s3cret@host',
  'mongodb://user:s3cret@host',
  'user:s3cret@host',
  'etcd://user:s3cret@',
  'etcd://user:s3cret@host?tls=perhaps',
  'etcd://user:s3cret@more@host',
  'redis://user:s3cret@host:99999',
  'valkeys://user:s3cret@host:99999',
  'redis://user:s3cret@ho st:1',
  'postgres://user:s3cret@host:99999/db',
  'postgres://user:s3cret%@127.0.0.1:1/db',
  'postgres://user:s3cret@ho st/db',
]

for (const url of ODD) {
  anyTest(`an invalid address is rejected without its password: ${url}`, async (t) => {
    const error = await t.throwsAsync(tryJoin(url))
    t.regex(String(error.code), /^ERR_FLAKE_(OPTION|STORE)$/)
    t.false(inspect(error, { depth: 9 }).includes('s3cret'), inspect(error, { depth: 9 }))
  })
}
