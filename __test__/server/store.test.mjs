// The server and its store, a real Redis: it starts while the store is down, says why it is not ready, takes its slot
// once it can, and takes it again after a loss. kill -9 costs a slot for a ttl.

import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { asker, passingFolder } from '../support/service.mjs'
import { stopProcess } from '../support/stop-process.mjs'

const { Clock, canSetClocks } = createRequire(import.meta.url)('../../lab/chaos/faults/clock.js')
const test = wantRedis() === undefined ? anyTest.skip : anyTest
const withClock = canSetClocks ? test : test.skip
const { createGroup, layouts } = FlakeId
const { openStore } = lease
const TOKEN = 'a-token-for-reasons'
const SHORT = { slots: 2, ttlMs: 2000, skewMs: 500, durable: false }

let redis
let folder

anyTest.before(async () => {
  if (wantRedis() === undefined) return
  folder = passingFolder()
  redis = await startRedis()
})

anyTest.after.always(() => redis?.stop())

async function configOf(store, names, more = {}) {
  const file = join(folder, `${Object.keys(names).join('-')}.json`)
  await writeFile(file, JSON.stringify({ store, names, ...more }))
  return ['--config', file]
}

const statusOf = async (url) => (await fetch(`${url}/readyz`)).status

test('without its store it is alive, says why it is not ready, and is ready once the store is reachable', async (t) => {
  const late = stopAfter(t, await startRedis())
  await late.kill()
  const args = await configOf(late.url, { early: SHORT, count: { segment: 'count' } })
  const server = stopAfter(t, await startServer({ args, until: 'listening' }))
  const ask = await asker(server.url)
  t.is((await ask(t, 'GET', '/livez')).status, 200)
  const { status, body } = await ask(t, 'GET', '/readyz')
  t.deepEqual([status, body.code], [503, 'ERR_FLAKE_UNREADY'])
  t.false(JSON.stringify(body).includes(String(late.port)), 'the reason is not public')
  await server.told(/^flakeforge-server: Group 'early': .* The server retries\.$/)
  for (const path of ['/v1/ids/early', '/v1/ids/early?n=100', '/v1/ids/count']) {
    const refused = await ask(t, 'POST', path)
    t.deepEqual([refused.status, refused.body.code], [503, 'ERR_FLAKE_STORE'], path)
  }
  const [name] = (await ask(t, 'GET', '/v1/names')).body.names
  t.deepEqual([name.state, name.slot], ['detached', undefined])
  t.is((await ask(t, 'GET', '/v1/slots/early')).status, 503)
  t.deepEqual(server.lines, [], 'nothing on stdout before it is ready')

  await late.start()
  await createGroup(late.url, { group: 'early', ...SHORT })
  await until(async () => (await statusOf(server.url)) === 200)
  t.is((await ask(t, 'POST', '/v1/ids/early')).status, 200)
  t.deepEqual((await ask(t, 'POST', '/v1/ids/count?n=2')).body.ids, ['0', '1'])
  await until(() => server.lines.length === 1)
  t.regex(server.lines[0], /^flakeforge-server is ready at /)
})

withClock(
  'whether a store of numbers answers is asked again soon, although the clock was set back meanwhile',
  async (t) => {
    const [own, clock] = [stopAfter(t, await startRedis()), new Clock()]
    const args = await configOf(own.url, { numbers: { segment: 'numbers' } })
    const server = stopAfter(t, await startServer({ args, env: clock.environment }))
    t.is(await statusOf(server.url), 200)
    clock.set(-3_600_000)
    await own.kill()
    await until(async () => (await statusOf(server.url)) === 503)
  },
)

test('while the store is down IDs continue until the window ends; then 503, and IDs again without a restart', async (t) => {
  const own = stopAfter(t, await startRedis('--appendonly', 'no'))
  await createGroup(own.url, { group: 'orders', ...SHORT })
  const server = stopAfter(t, await startServer({ args: await configOf(own.url, { orders: SHORT }) }))
  const ask = await asker(server.url)
  const seen = new Set((await ask(t, 'POST', '/v1/ids/orders?n=100')).body.ids)
  await stopProcess(own.pid)
  let refused
  await until(async () => {
    const answer = await ask(t, 'POST', '/v1/ids/orders')
    if (answer.status === 200) seen.add(answer.body.ids[0])
    else refused = answer
    return refused !== undefined && refused.body.code === 'ERR_FLAKE_LEASE_EXPIRED'
  })
  t.is(refused.status, 503)
  t.is(await statusOf(server.url), 503)
  t.is((await ask(t, 'GET', '/livez')).status, 200)
  process.kill(own.pid, 'SIGCONT')
  await until(async () => (await statusOf(server.url)) === 200)
  await server.told(/generates IDs again/)
  t.is(server.warnings.length, 2, server.warnings.join('\n'))
  t.regex(server.warnings[0], /^flakeforge-server: Group 'orders': The window of slot \d .* The server retries\.$/)
  const before = seen.size
  for (const id of (await ask(t, 'POST', '/v1/ids/orders?n=100')).body.ids) seen.add(id)
  t.is(seen.size, before + 100, 'no ID twice')
})

test('an outage without requests is logged when it starts and when it ends, once each', async (t) => {
  const own = stopAfter(t, await startRedis('--appendonly', 'no'))
  await createGroup(own.url, { group: 'silent', ...SHORT })
  const server = stopAfter(t, await startServer({ args: await configOf(own.url, { silent: SHORT }) }))
  for (const round of [1, 2]) {
    await stopProcess(own.pid)
    const begun = await server.told(/Group 'silent'/, 2 * round - 2)
    t.regex(begun, /: The window of slot \d .* has ended.* Because: .+\. The server retries\.$/)
    process.kill(own.pid, 'SIGCONT')
    await server.told(/^flakeforge-server: Group 'silent': generates IDs again\.$/, 2 * round - 1)
    t.is(server.warnings.length, 2 * round, server.warnings.join('\n'))
  }
})

test('a new group: the log has the command that creates it, once; clients see no JavaScript call', async (t) => {
  const server = stopAfter(
    t,
    await startServer({ args: ['--store', redis.url, '--name', 'new one'], until: 'listening' }),
  )
  const { body } = await (await asker(server.url))(t, 'POST', '/v1/ids/new%20one')
  t.is(body.code, 'ERR_FLAKE_QUIET')
  t.regex(body.detail, /The log of the server has the command/)
  await server.told(/has no IDs yet/)
  t.deepEqual(
    server.warnings.map((line) => line.replace(/.* (npx flakeforge create .*)$/, '$1')),
    [
      `npx flakeforge create ${redis.url} 'new one'`,
      `flakeforge-server: listens at ${server.url.replace(/\/$/, '')}, but has no IDs yet.`,
    ],
  )
})

test('one of two names gets no slot: the other gives IDs, but the server is not ready', async (t) => {
  await createGroup(redis.url, { group: 'good', ...SHORT })
  await createGroup(redis.url, { group: 'other', ...SHORT })
  const tokenFile = join(folder, 'tokens')
  await writeFile(tokenFile, TOKEN, { mode: 0o600 })
  const names = { good: SHORT, other: { ...SHORT, slots: SHORT.slots + 1 } }
  const server = stopAfter(
    t,
    await startServer({ args: await configOf(redis.url, names, { tokenFile }), until: 'listening' }),
  )
  const ask = await asker(server.url, { token: TOKEN })
  await until(async () => (await ask(t, 'POST', '/v1/ids/good')).status === 200)
  const codeFor = async (authorization) => {
    const { status, body } = await ask(t, 'GET', '/readyz', { headers: { authorization } })
    t.is(status, 503)
    return body.code
  }
  t.is(await codeFor(`Bearer ${TOKEN}`), 'ERR_FLAKE_CONFIG_MISMATCH')
  t.is(await codeFor(`Bearer ${TOKEN}0`), 'ERR_FLAKE_UNREADY', 'a wrong token counts as none')
  t.is(await codeFor(''), 'ERR_FLAKE_UNREADY')
  t.deepEqual(server.lines, [], 'nothing on stdout before it is ready')
})

test('SIGTERM releases the slot; kill -9 costs it for a ttl', async (t) => {
  await createGroup(redis.url, { group: 'ends', ...SHORT, slots: 1 })
  const args = await configOf(redis.url, { ends: { ...SHORT, slots: 1 } })
  const store = openStore(redis.url)
  t.teardown(() => store.close())
  const isHeld = async () => (await store.list('ends')).some(({ owner, hi }) => owner !== undefined && hi > Date.now())

  const first = await startServer({ args })
  t.true(await isHeld())
  t.deepEqual(await first.kill('SIGTERM'), [0, null])
  t.false(await isHeld(), 'at once')
  await first.stop()

  const second = await startServer({ args })
  const ask = await asker(second.url)
  const { slots } = (await ask(t, 'GET', '/v1/slots/ends')).body
  const [{ owner }] = await store.list('ends')
  t.is(slots.length, 1)
  t.like(slots[0], { slot: 0, held: true, mine: true })
  t.false(JSON.stringify(slots).includes(owner), "the holder's token stays here")
  await second.kill('SIGKILL')
  const [{ owner: dead, hi }] = await store.list('ends')
  t.is(dead, owner, 'no process could release it')

  const third = await startServer({ args, until: 'listening' })
  await until(async () => (await statusOf(third.url)) === 200)
  const next = await (await fetch(`${third.url}/v1/ids/ends`, { method: 'POST' })).json()
  t.true(layouts.flake.decode(next.ids[0]).timestamp > hi, 'once its window had ended')
  await Promise.all([second.stop(), third.stop()])
})

test('a slot that was taken away is replaced; a group that was ended stays ended', async (t) => {
  await createGroup(redis.url, { group: 'taken', ...SHORT })
  const server = stopAfter(t, await startServer({ args: await configOf(redis.url, { taken: SHORT }) }))
  const ask = await asker(server.url)
  const slot = async () => (await ask(t, 'GET', '/v1/names')).body.names[0].slot
  const own = await slot()
  await stopProcess(server.child.pid)
  const other = await rivalsOf('taken', own) // waits until the window has ended
  server.child.kill('SIGCONT')
  // It may report ready earlier, with its old slot: while its renewal has no answer, requests would wait for it.
  await until(async () => (await slot()) === 1 - own && (await statusOf(server.url)) === 200)
  const { status, headers } = await ask(t, 'POST', '/v1/ids/taken')
  t.is(status, 200)
  t.deepEqual([Number(headers.get('flakeforge-slot')), await slot()], [1 - own, 1 - own])
  await Promise.all(other.map((flake) => flake.close()))

  const store = openStore(redis.url)
  await store.destroy('taken')
  await store.close()
  await until(async () => (await ask(t, 'POST', '/v1/ids/taken')).body.code === 'ERR_FLAKE_DESTROYED')
  await sleep(1000)
  t.is(await statusOf(server.url), 503, 'the server does not recreate it')
})

test('the IDs of an answer are of one slot: a request that waits while the slot is replaced is rejected', async (t) => {
  const layout = { epoch: 0, tickMs: 100, fields: Object.entries({ timestamp: 40, node: 20, counter: 4 }) }
  const options = { ...SHORT, layout }
  await createGroup(redis.url, { group: 'moved', ...options })
  const args = await configOf(redis.url, { moved: options }, { waitMs: 3_600_000 })
  const server = stopAfter(t, await startServer({ args }))
  const ask = await asker(server.url)
  const own = (await ask(t, 'GET', '/v1/names')).body.names[0].slot
  const waiting = ask(t, 'POST', '/v1/ids/moved?n=1000') // six seconds of IDs
  await until(async () => /requests_waiting 1$/m.test((await ask(t, 'GET', '/metrics')).body))
  await stopProcess(server.child.pid)
  const other = await rivalsOf('moved', own, options)
  server.child.kill('SIGCONT')
  const { status, body } = await waiting
  await Promise.all(other.map((flake) => flake.close()))
  t.deepEqual([status, body.code], [503, 'ERR_FLAKE_DETACHED'])
  t.regex(body.detail, /another slot while it generated the IDs/)
})

/** Members that took both slots, one of them from a stopped server; the other one is free again. */
async function rivalsOf(group, own, options = SHORT) {
  const join = () => FlakeId.join(redis.url, { group, ...options })
  const members = [await join(), await join()]
  await members.find(({ slot }) => slot !== own).close()
  return members
}

test('two servers on one store generate different IDs, with different slots', async (t) => {
  await createGroup(redis.url, { group: 'both', ...SHORT })
  const args = await configOf(redis.url, { both: SHORT })
  const servers = await Promise.all([startServer({ args }), startServer({ args })])
  t.teardown(() => Promise.all(servers.map((server) => server.stop())))
  const answers = await Promise.all(
    servers.flatMap(({ url }) =>
      Array.from({ length: 20 }, () => fetch(`${url}/v1/ids/both?n=500`, { method: 'POST' })),
    ),
  )
  const ids = (await Promise.all(answers.map((answer) => answer.json()))).flatMap((body) => body.ids)
  t.is(new Set(ids).size, 20_000)
  const slots = new Set(answers.map(({ headers }) => headers.get('flakeforge-slot')))
  t.deepEqual([...slots].sort(), ['0', '1'])
  for (const name of ['flakeforge-layout', 'flakeforge-group'])
    t.is(new Set(answers.map(({ headers }) => headers.get(name))).size, 1, name)
})
