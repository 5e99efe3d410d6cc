// The list of a group is changed while its members make IDs: a machine that is gone for good is replaced, and three servers
// become five. No ID comes twice, and no member has to wait.

import anyTest from 'ava'
import { startProxy } from '../servers/proxy.mjs'
import { isRefused, run } from '../support/command.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { closeAfter, tryJoin } from '../support/lease.mjs'
import { testInTurn } from '../support/turns.mjs'
import {
  addressesOf,
  flowOf,
  isThere,
  isUnique,
  members,
  renewals,
  startAll,
  untilWhole,
  warningsOf,
} from './quorum.mjs'

const { changeStores, quorumStore, redisStore, SegmentId } = lease
/** Each waits most of its time, for renewals. */
const test = isThere('redis') ? testInTurn(anyTest, 2) : anyTest.skip
const MISMATCH = { code: 'ERR_FLAKE_CONFIG_MISMATCH' }
const OPTION = { code: 'ERR_FLAKE_OPTION' }

/** Runs the command; warnings of stores that are away are none of its errors. */
async function changes(t, args) {
  const { code, stdout, stderr } = await run(args)
  t.is(code, 0, stderr)
  return stdout
}

async function fails(t, args, message) {
  const { code, stdout, stderr } = await run(args)
  t.is(code, 1, stdout)
  t.regex(stderr, message)
}

/** Each member ends, and another one takes its place with this list. Returns the IDs of the first ones, and the others. */
async function restart(t, flakes, flows, list, options) {
  const [ids, next] = [[], []]
  for (const [at, flake] of flakes.entries()) {
    next.push(await FlakeId.join(list, options))
    closeAfter(t, next[at])
    ids.push(...(await flows[at].end()))
    await flake.close()
  }
  return { ids, next }
}

test('a server is switched off for good and replaced, and members are restarted one after another', async (t) => {
  t.timeout(240_000)
  const [a, b, c, d] = await startAll(t, 'redis', 'redis', 'redis', 'redis')
  const [old, now] = [addressesOf([a, b, c]), addressesOf([a, b, d])]
  const { group, flakes, options } = await members(t, old, 3)
  const flows = flakes.map((flake) => flowOf([flake]))
  const warnings = warningsOf(t, 'FLAKEFORGE_STORE_LIST', now)
  await c.kill()
  await renewals(flakes)
  await t.throwsAsync(tryJoin(now, { ...options, waitMs: 0 }), MISMATCH, 'not before the change')
  const change = ['stores', 'replace', c.address, d.address, ...old, '--group', group]
  const text = `The stores of '${group}' are now ${now.join(' ')}.\n`
  t.is(await changes(t, change), text)
  t.is(await changes(t, change), text, 'the same command again changes nothing')
  await c.start() // it lives on, and is of no use any more
  await renewals(flakes, 2)
  t.is(warnings.length, 1)
  t.true(warnings[0].includes(now.toSorted().join(' ')), warnings[0])
  const { ids, next } = await restart(t, flakes, flows, now, options)
  const flow = flowOf(next)
  await untilWhole(now, group)
  for (const server of [a, d, b]) {
    await server.kill()
    await renewals(next)
    t.regex(await tryJoin(now, { ...options, host: 'another' }), /joined/, 'two of the new three are enough')
    await server.start()
    await untilWhole(now, group)
  }
  isUnique(t, [...ids, ...(await flow.end())])
  const other = addressesOf([a, c, d])
  await t.throwsAsync(tryJoin([...now.slice(1), 'redis://127.0.0.1:1'], { ...options, waitMs: 0 }), MISMATCH)
  await isRefused(t, ['stores', 'replace', b.address, c.address, ...other], /is not in the list/)
})

test('three servers become five, of which two may fail', async (t) => {
  t.timeout(240_000)
  const servers = await startAll(t, 'redis', 'redis', 'redis', 'redis', 'redis')
  const [three, five] = [addressesOf(servers.slice(0, 3)), addressesOf(servers)]
  const { group, flakes, options } = await members(t, three, 2)
  const flows = flakes.map((flake) => flowOf([flake]))
  t.regex(await changes(t, ['stores', 'add', ...five.slice(3), ...three, '--group', group]), /are now/)
  await renewals(flakes)
  const { ids, next } = await restart(t, flakes, flows, five, options)
  const flow = flowOf(next)
  await untilWhole(five, group)
  for (const pair of [servers.slice(0, 2), servers.slice(2, 4)]) {
    await Promise.all(pair.map((server) => server.kill()))
    await renewals(next)
    await Promise.all(pair.map((server) => server.start()))
    await untilWhole(five, group)
  }
  isUnique(t, [...ids, ...(await flow.end())])
})

test('nothing changes if the new server or another one in the list is away', async (t) => {
  t.timeout(120_000)
  const [a, b, c, d] = await startAll(t, 'redis', 'redis', 'redis', 'redis')
  const links = await Promise.all([a, b, c].map(({ port }) => startProxy(port)))
  t.teardown(() => links.map((link) => link.stop()))
  const list = links.map(({ port }) => `redis://127.0.0.1:${port}`)
  const { group, flakes } = await members(t, list, 1)
  const replace = ['stores', 'replace', list[2], d.address, ...list, '--group', group]
  await d.kill()
  await fails(t, replace, /new store .* does not answer: .* Nothing was changed/)
  await d.start()
  for (const link of links.slice(1)) link.refuse() // two that restart would have lost their data
  await fails(t, replace, /Only 1 of the 3 stores/)
  for (const [at, link] of links.slice(1).entries()) link.leadTo([b, c][at].port)
  await renewals(flakes)
  await untilWhole(list, group)
  await isRefused(t, ['stores', 'swap', list[2], d.address], /stores replace OLD NEW/)
  await fails(t, ['stores', 'replace', list[2], d.address, ...list, '--group', 'none'], /no group 'none'/)
  await isRefused(t, ['stores', 'add', d.address, list[2], ...list, '--group', group], /twice/)
})

test('a list of users’ own stores is changed in code, while a member makes IDs', async (t) => {
  t.timeout(120_000)
  const { Redis } = await import('ioredis')
  const servers = await startAll(t, 'redis', 'redis', 'redis', 'redis', 'redis')
  const clients = servers.map(({ url }) => new Redis(url, { maxRetriesPerRequest: 1 }))
  t.teardown(() => clients.map((client) => client.disconnect()))
  for (const client of clients) client.on('error', () => {})
  const stores = clients.map((client) => redisStore(client))
  const listOf = (letters) =>
    quorumStore(
      [...letters].map((letter) => stores['abcde'.indexOf(letter)]),
      { labels: [...letters] },
    )
  const [old, now] = [listOf('abc'), listOf('dab')]
  const { group, flakes, options } = await members(t, old, 1)
  const flow = flowOf(flakes)
  const bills = { name: 'bills' }
  const segment = await SegmentId.open(old, { ...bills, block: 1 })
  await segment.close()

  const single = (name) => ({
    ...OPTION,
    message: new RegExp(`^${name} must be the addresses of three or five stores`),
  })
  await t.throwsAsync(changeStores(stores[0], now, group), single('from'))
  await t.throwsAsync(changeStores(old, stores[3], group), single('to'))
  await t.throwsAsync(changeStores(old, now, 'none'), { ...OPTION, message: /what must be .* exists on these stores/ })
  await t.throwsAsync(changeStores(old, now, { name: 'none' }), OPTION)
  await t.throwsAsync(changeStores(old, now), { ...OPTION, message: /cannot list its contents/ })
  const many = { code: 'ERR_FLAKE_STORE', message: /Replace one store at a time/ }
  await t.throwsAsync(changeStores(old, listOf('ade'), group), many)
  const same = quorumStore([stores[0], stores[1], stores[2]], { labels: ['a', 'b', 'other'] })
  await t.throwsAsync(changeStores(old, same, group), { ...OPTION, message: /'c' and 'other', which are one server/ })

  await servers[2].kill()
  await changeStores(old, now, group)
  await changeStores(old, now, bills)
  t.deepEqual((await now.storeStates(group)).map(({ store }) => store).toSorted(), ['a', 'b', 'd'])
  await renewals(flakes) // with the old list, of which two have a vote
  await t.throwsAsync(tryJoin(listOf('abe'), { ...options, waitMs: 0 }), MISMATCH)
  await servers[0].kill()
  t.regex(await tryJoin(now, { ...options, host: 'another' }), /joined/, 'b and d are enough')
  const next = await SegmentId.open(now, { ...bills, block: 1 })
  t.is(next.lineage, segment.lineage)
  await next.close()
  isUnique(t, await flow.end())
})
