// One store out of three servers that know nothing of each other: a server is killed, loses its data, freezes or is cut off,
// while members generate IDs all the time. No ID comes twice, and no member has to wait.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startProxy } from '../servers/proxy.mjs'
import { until } from '../servers/server.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { happens, tryJoin } from '../support/lease.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { testInTurn } from '../support/turns.mjs'
import { gate } from '../support/waits.mjs'
import {
  addressesOf,
  flowOf,
  GROUP,
  isThere,
  isUnique,
  members,
  renewals,
  startAll,
  statesOf,
  untilWhole,
  warningsOf,
} from './quorum.mjs'

const { openStore, quorumStore, redisStore, SegmentId } = lease
/** Each waits most of its time, for renewals. */
const inTurn = testInTurn(anyTest, 2)
const test = isThere('redis') ? inTurn : anyTest.skip
const testMixed = isThere('redis', 'postgres', 'etcd', 'mysql') ? inTurn : anyTest.skip

test('three Redis without persistence, each killed in turn: no equal ID, and no member without IDs', async (t) => {
  t.timeout(240_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const { group, flakes, options } = await members(t, list, 3)
  const flow = flowOf(flakes)
  for (const server of servers) {
    await server.kill()
    await renewals(flakes)
    t.regex(await tryJoin(list, { ...options, host: 'another' }), /joined/, 'two of three are enough for a new member')
    await server.start() // with nothing: it had everything in memory
    await untilWhole(list, group)
  }
  isUnique(t, await flow.end())
})

test('a store that is wiped while it runs is filled again by the members', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const { group, flakes } = await members(t, list, 2)
  const flow = flowOf(flakes)
  for (const server of servers) {
    await server.cli('FLUSHALL')
    await renewals(flakes)
    await untilWhole(list, group)
    t.not(await server.cli('DBSIZE'), '0')
  }
  isUnique(t, await flow.end())
})

test('servers are switched off for good one after another: empty successors take over, and no member notices', async (t) => {
  t.timeout(240_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const links = await Promise.all(servers.map(({ port }) => startProxy(port)))
  t.teardown(() => links.map((link) => link.stop()))
  const list = links.map(({ port }) => `redis://127.0.0.1:${port}`) // names that lead to another machine later
  const { group, flakes, options } = await members(t, list, 2)
  const { history } = (await recordsOf(list, group)).identity
  const flow = flowOf(flakes)
  for (const [i, link] of links.entries()) {
    await servers[i].stop()
    link.cut()
    await renewals(flakes)
    t.regex(await tryJoin(list, { ...options, host: 'another' }), /joined/)
    const [successor] = await startAll(t, 'redis')
    link.leadTo(successor.port)
    link.cut()
    await untilWhole(list, group)
  }
  isUnique(t, await flow.end())
  t.is((await recordsOf(list, group)).identity.history, history, 'the records are those of the beginning')
})

/** The records of a group, as a client sees them that changes nothing. */
async function recordsOf(list, group) {
  const store = quorumStore(list)
  try {
    return await store.records.look(group, ['group'])
  } finally {
    await store.close()
  }
}

test('a store with a damaged record costs no ID, is named, and counts again once its records are deleted', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const warnings = warningsOf(t, 'FLAKEFORGE_STORE_AWAY', list)
  const { group, flakes, options } = await members(t, list, 2)
  const flow = flowOf(flakes)
  const [, damaged] = servers
  const key = `flakeforge:{${group}}:records`
  await damaged.cli('HSET', key, 'group', 'cut off')
  await renewals(flakes, 3)
  t.regex(await tryJoin(list, { ...options, host: 'another' }), /joined/)
  t.deepEqual((await statesOf(list, group)).filter((state) => state === 'damaged').length, 1)
  await until(() => warnings.length > 0, { state: () => 'a warning names the store' })
  t.regex(warnings[0], new RegExp(`${damaged.address}.*Record 'group' of '${group}'`))
  await damaged.cli('DEL', key)
  await renewals(flakes)
  await untilWhole(list, group)
  isUnique(t, await flow.end())
})

test('a store that freezes costs no ID; it is named once while it is away, and once when it is back', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const warnings = warningsOf(t, 'FLAKEFORGE_STORE_AWAY', list)
  const { flakes } = await members(t, list, 1)
  const flow = flowOf(flakes)
  const [, frozen] = servers
  await stopProcess(frozen.pid)
  t.teardown(() => process.kill(frozen.pid, 'SIGCONT'))
  await until(() => warnings.length > 0)
  await renewals(flakes, 3)
  t.is(warnings.length, 1, warnings.join('\n'))
  t.true(warnings[0].includes(list[1]) && /does not take part/.test(warnings[0]), warnings[0])
  process.kill(frozen.pid, 'SIGCONT')
  await until(() => warnings.length > 1)
  t.is(warnings[1], `The store ${list[1]} takes part again.`)
  isUnique(t, await flow.end())
})

test('a store that is wiped while another one is frozen takes part again before that one does', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const { group, flakes } = await members(t, list, 3)
  const flow = flowOf(flakes)
  const [wiped, , frozen] = servers
  await stopProcess(frozen.pid)
  t.teardown(() => process.kill(frozen.pid, 'SIGCONT'))
  await wiped.cli('FLUSHALL')
  let states = []
  await until(
    async () => {
      states = await statesOf(list, group)
      return states[0] === 'votes' || states[0] === 'behind'
    },
    { state: () => `the first one takes part: ${states.join(', ')}`, limitMs: 30_000 },
  )
  t.is(states[2], 'silent')
  isUnique(t, await flow.end())
})

test('a member whose way to one store is cut goes on, and so does one whose packets are lost', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const { options } = await members(t, list, 1)
  const links = await Promise.all(servers.map(({ port }) => startProxy(port)))
  t.teardown(() => links.map((link) => link.stop()))
  // The label is that of the server, whatever leads there.
  const store = quorumStore(
    links.map(({ port }) => `redis://127.0.0.1:${port}`),
    { labels: list },
  )
  const flake = await FlakeId.join(store, options)
  t.teardown(() => store.close())
  t.teardown(() => flake.close())
  const flow = flowOf([flake])
  for (const link of links) {
    link.lose() // silence on all connections so far
    await renewals([flake])
    link.cut()
    await renewals([flake])
  }
  isUnique(t, await flow.end())
})

test('nothing waits for a store that answers late: not a join, a renewal, a counter, the end of a member or of its process', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const { options } = await members(t, addressesOf(servers), 1)
  const link = await startProxy(servers[1].port)
  t.teardown(() => link.stop())
  const labels = addressesOf(servers)
  await (await SegmentId.open(labels, { name: 'bills', block: 1 })).close()
  const list = labels.with(1, `redis://127.0.0.1:${link.port}`)
  link.hold() // until all is done
  const store = quorumStore(list, { labels })
  const flake = await FlakeId.join(store, options)
  await renewals([flake], 2)
  const segment = await SegmentId.open(store, { name: 'bills', block: 1 })
  t.is((await segment.takeAsync(3)).length, 24)
  await Promise.all([segment.close(), flake.close()])
  await store.close()

  const code = `const { FlakeId, lease } = await import(${JSON.stringify(new URL('../support/index.mjs', import.meta.url).href)})
    const store = lease.quorumStore(${JSON.stringify(list)}, { labels: ${JSON.stringify(labels)} })
    const flake = await FlakeId.join(store, ${JSON.stringify(options)})
    process.stdout.write(flake.nextString())
    await flake.close()
    await store.close()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
  t.regex(stdout, /^\d+$/)
})

test('without a majority: the window is used to its end, then an error names each store; a majority ends that', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const { flakes, options } = await members(t, list, 1)
  const [flake] = flakes
  const failed = happens(flake, 'renewal-failed')
  for (const server of servers.slice(0, 2)) await stopProcess(server.pid)
  const thaw = () => servers.slice(0, 2).map(({ pid }) => process.kill(pid, 'SIGCONT'))
  t.teardown(thaw)
  t.teardown(() => flake.close())
  const { cause, expires } = await failed
  t.is(cause.code, 'ERR_FLAKE_STORE')
  for (const address of list.slice(0, 2)) t.true(cause.message.includes(address), cause.message)
  t.false(cause.message.includes(`${list[2]} (`), cause.message)
  t.true(typeof flake.nextBigInt() === 'bigint')
  await until(() => Date.now() > Number(expires))
  t.throws(() => flake.nextBigInt(), { code: 'ERR_FLAKE_LEASE_EXPIRED' })
  const error = await t.throwsAsync(tryJoin(list, { ...options, waitMs: 0 }), { code: 'ERR_FLAKE_STORE' })
  t.true(error.message.includes(list[0]), error.message)
  thaw()
  await flake.nextAsync()
})

testMixed('Redis, PostgreSQL and etcd are one store, and each of them may be killed', async (t) => {
  t.timeout(240_000)
  const servers = await startAll(t, 'redis', 'postgres', 'etcd')
  const list = addressesOf(servers)
  const { group, flakes } = await members(t, list, 2)
  const flow = flowOf(flakes)
  for (const server of servers) {
    await server.kill(server === servers[1] ? 'SIGQUIT' : 'SIGKILL')
    await renewals(flakes)
    await server.start()
    await untilWhole(list, group)
  }
  isUnique(t, await flow.end())
})

testMixed('five servers of four kinds: two of them fail at the same time', async (t) => {
  t.timeout(240_000)
  const servers = await startAll(t, 'redis', 'postgres', 'etcd', 'mysql', 'redis')
  const list = addressesOf(servers)
  const { group, flakes, options } = await members(t, list, 2)
  const flow = flowOf(flakes)
  for (const pair of [
    [servers[0], servers[3]],
    [servers[2], servers[4]],
  ]) {
    await Promise.all(pair.map((server) => server.kill()))
    await renewals(flakes)
    t.regex(await tryJoin(list, { ...options, host: 'another' }), /joined/)
    await Promise.all(pair.map((server) => server.start()))
    await untilWhole(list, group)
  }
  isUnique(t, await flow.end())
})

test('a restart of every server at once is a loss: new members wait for the quiet period', async (t) => {
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const { flakes, options } = await members(t, list, 1)
  await flakes[0].close()
  for (const server of servers) {
    await server.kill()
    await server.start()
  }
  await t.throwsAsync(tryJoin(list, { ...options, waitMs: 0 }), { code: 'ERR_FLAKE_QUIET' })
})

test('a counter goes on without one store, and its numbers are dense', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const one = await SegmentId.open(list, { name: 'bills', block: 10 })
  const other = await SegmentId.open(list.toReversed(), { name: 'bills', block: 10 })
  t.teardown(() => Promise.all([one.close(), other.close()]))
  t.is(one.lineage, other.lineage)
  const taken = []
  const take = async () => {
    for (const segment of [one, other]) taken.push(...split(await segment.takeAsync(50)))
  }
  await take()
  for (const server of servers) {
    await server.kill()
    await take()
    await server.start()
    await take() // which finds the empty server
    await untilWhole(list, 'bills')
  }
  t.is(new Set(taken).size, taken.length)
  t.true(Math.max(...taken) < taken.length * 3)
})

const split = (bytes) => Array.from({ length: bytes.length / 8 }, (_, i) => Number(bytes.readBigUInt64BE(i * 8)))

/** Stores of two clients of a user, and the records of a third one, for a store of the user's own. */
async function ownStores(t) {
  const { Redis } = await import('ioredis')
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const clients = servers.map(({ url }) => new Redis(url))
  t.teardown(() => clients.map((client) => client.disconnect()))
  const [a, b] = clients.map((client) => redisStore(client))
  const { records } = redisStore(clients[2])
  return { a, b, records }
}

test('users’ own clients and their own databases may be stores of a list', async (t) => {
  const { a, b, records } = await ownStores(t)
  const own = {
    read: (...words) => records.read(...words),
    swap: (...words) => records.swap(...words),
    names: (group) => records.names(group),
  }
  const store = quorumStore([a, b, own], { labels: ['a', 'b', 'c'] })
  const { flakes, group } = await members(t, store, 1)
  t.is(typeof flakes[0].nextBigInt(), 'bigint')
  t.deepEqual(
    (await store.list(group)).map(({ slot }) => slot),
    [flakes[0].slot],
  )
  await flakes[0].close()
})

test('calls that find a dead connection at the same time are one failure: each is tried again, and no warning comes', async (t) => {
  const { a, b, records } = await ownStores(t)
  let reads = 0
  const both = gate()
  const own = {
    async read(...words) {
      reads++
      if (reads > 2) return records.read(...words)
      if (reads === 2) both.open()
      await both.promise
      throw new Error('the connection was lost')
    },
    swap: (...words) => records.swap(...words),
    names: (group) => records.names(group),
  }
  const warnings = warningsOf(t, 'FLAKEFORGE_STORE_AWAY', ['died-at-once'])
  const store = quorumStore([a, b, own], { labels: ['a', 'b', 'died-at-once'] })
  await Promise.all(['one', 'two'].map((name) => store.counter(name)))
  await until(() => reads === 4, { limitMs: 10_000 })
  t.deepEqual(warnings, [])
})

/** How many connections a server has, besides the one that asks. */
const connectionsOf = async (server) => (await server.cli('CLIENT', 'LIST')).trim().split('\n').length - 1

/** How many scripts a server has run since its counts were reset: each message of a step is one. */
async function scriptsOf(server) {
  const text = await server.cli('INFO', 'commandstats')
  return [...text.matchAll(/cmdstat_(?:eval|evalsha):calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0)
}

/** Waits until a majority of the servers has run this many scripts. A server that answers late runs one more, or fewer. */
async function untilScripts(servers, count) {
  let counts = []
  await until(
    async () => {
      counts = await Promise.all(servers.map(scriptsOf))
      return counts.filter((each) => each === count).length >= 2 && Math.max(...counts) <= count + 1
    },
    { state: () => `each server ran ${count} scripts: ${counts.join(', ')}`, limitMs: 1000 },
  )
}

const resetCounts = (servers) => Promise.all(servers.map((server) => server.cli('CONFIG', 'RESETSTAT')))

test('a first join takes five messages to each server, and a renewal three', async (t) => {
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const { options } = await members(t, list, 0, { ttlMs: 12_000 })
  await resetCounts(servers)
  const flake = await FlakeId.join(list, options)
  t.teardown(() => flake.close())
  await t.notThrowsAsync(untilScripts(servers, 5))
  await resetCounts(servers)
  await renewals([flake])
  await t.notThrowsAsync(untilScripts(servers, 3))
})

test('many members of a process share connections, which end with the last of them', async (t) => {
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  const { flakes, group } = await members(t, list, 16)
  for (const server of servers) t.is(await connectionsOf(server), 1)
  const stores = Array.from({ length: 120 }, () => openStore(list))
  await Promise.all(stores.map((store) => store.list(group)))
  for (const server of servers) t.is(await connectionsOf(server), 8)
  const [first, second, ...others] = stores
  for (let i = 0; i < 4; i++) await first.close() // only the first one counts: others use its connections
  for (const server of servers) t.is(await connectionsOf(server), 8)
  await t.throwsAsync(first.list(group), { code: 'ERR_FLAKE_STORE', message: /closed/ })
  t.is((await second.list(group)).length, 16)
  await Promise.all(others.map((store) => store.close()))
  const last = flakes.pop()
  await Promise.all(flakes.map((flake) => flake.close()))
  await renewals([last])
  for (const server of servers) t.true((await connectionsOf(server)) <= 2)
  await Promise.all([last.close(), second.close()])
  for (const server of servers) await until(async () => (await connectionsOf(server)) === 0)
})

test('FLAKEFORGE_STORE may name several stores, and the commands take them one by one', async (t) => {
  t.timeout(120_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis')
  const list = addressesOf(servers)
  process.env.FLAKEFORGE_STORE = list.join(' ')
  t.teardown(() => delete process.env.FLAKEFORGE_STORE)
  const options = { ...GROUP, group: 'named', epoch: 3_000_000 }
  t.true(await FlakeId.createGroup(null, options))
  const flake = await FlakeId.join(null, options)
  await untilWhole(list, 'named')
  await flake.close()
})
