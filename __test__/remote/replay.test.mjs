// Answers that come twice: no ID of them is handed out twice, the error says what to repair, and another server is
// used. Similar but correct answers are accepted: several servers behind one address, restarts, layouts without an
// order.

import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { startIntermediary } from '../servers/intermediary.mjs'
import { passingFolder } from '../support/service.mjs'
import { connect, connectToFirst, idsIn, makeIds, startScripted } from './scripted-server.mjs'

const { Repeats } = createRequire(import.meta.url)('../../target/rooms/lib/remote/repeats.js')

/** Names of each kind: in the order of time, with the node first, without any order, and without a slot. */
const NODE_FIRST = {
  epoch: 1577836800000,
  tickMs: 1,
  fields: Object.entries({ node: 10, timestamp: 42, counter: 12 }),
}
const NAMES = {
  orders: { layout: 'twitter' },
  nodes: { layout: NODE_FIRST },
  spread: { layout: 'uniqueid' },
  invoices: { segment: 'invoices', block: 50 },
}

let config
let servers

test.before(async () => {
  const folder = passingFolder()
  config = join(folder, 'names.json')
  await writeFile(config, JSON.stringify({ store: `file:${folder}/ids`, names: NAMES }))
  servers = await Promise.all([1, 2].map(() => startServer({ args: ['--config', config] })))
})
test.after.always(() => Promise.all((servers ?? []).map((server) => server.stop())))

const urls = () => servers.map(({ url }) => url)

/**
 * IDs until a call fails; by requests of one size, which are slow enough that the client does not ask for more at a
 * time.
 */
async function takeUntilError(remote) {
  const ids = []
  try {
    for (let i = 0; i < 40; i++) {
      ids.push(...idsIn(await remote.takeAsync(50)))
      await sleep(30)
    }
  } catch (error) {
    return { ids, error }
  }
  return { ids }
}

for (const name of Object.keys(NAMES)) {
  for (const how of ['caches', 'renames', 'overlaps']) {
    test(`${name}: an intermediary that ${how} answers gives no ID twice, and the error says what to do`, async (t) => {
      const proxy = await startIntermediary(t, [servers[0].url], how)
      const remote = await connect(t, proxy, { name, prefetch: 1, waitMs: 0 })
      const { ids, error } = await takeUntilError(remote)
      t.is(new Set(ids).size, ids.length)
      t.true(proxy.repeated > 0 && ids.length >= 50)
      t.is(error?.code, 'ERR_FLAKE_REPLAY')
      t.regex(error.message, /not to cache POST, and to pass on the header flakeforge-nonce in both directions\.$/)
      t.like(error.failures[0], { server: `${proxy.url}/`, status: 200, code: 'ERR_FLAKE_REPLAY' })
    })

    test(`${name}: next to an intermediary that ${how} answers, another server is used`, async (t) => {
      const proxy = await startIntermediary(t, [servers[0].url], how)
      const remote = await connectToFirst(t, [proxy, servers[1]], { name, prefetch: 1, waitMs: 0 })
      const { ids, error } = await takeUntilError(remote)
      t.is(error, undefined)
      t.is(new Set(ids).size, 2000)
      t.is(remote.stats.server, `${servers[1].url}/`)
    })
  }

  test(`${name}: two servers behind one address: every answer is accepted`, async (t) => {
    const proxy = await startIntermediary(t, urls(), 'passes')
    const remote = await connect(t, proxy, { name, prefetch: 1, waitMs: 0 })
    const ids = []
    for (let i = 0; i < 40; i++) ids.push(...idsIn(await remote.takeAsync(1 + (i % 7))))
    t.is(new Set(ids).size, ids.length)
    t.is(remote.stats.retries, 0)
  })
}

test('a restarted server, with the same slot or another one, stays in use', async (t) => {
  const args = ['--store', `file:${passingFolder()}`, '--name', 'orders']
  const first = await startServer({ args })
  const proxy = await startIntermediary(t, [first.url], 'passes')
  const targets = [first]
  const remote = await connect(t, proxy, { prefetch: 1, waitMs: 60_000 })
  const ids = idsIn(await remote.takeAsync(10))
  await first.kill('SIGKILL')
  for (let i = 0; i < 3; i++) {
    targets.push(await startServer({ args, port: first.port }))
    ids.push(...idsIn(await remote.takeAsync(10)))
    const other = await startServer({ args }) // takes the free slot
    await targets.at(-1).kill('SIGKILL')
    targets.push(other)
  }
  await Promise.all(targets.map((server) => server.stop()))
  t.is(new Set(ids).size, 40)
})

test('an answer without a nonce, or with another one, is rejected before its IDs are read', async (t) => {
  for (const nonce of [undefined, '', '0123456789abcdef0123456789abcdef']) {
    const server = await startScripted(t, (_request, response, n) => {
      response.removeHeader('flakeforge-nonce')
      if (nonce !== undefined) response.setHeader('flakeforge-nonce', nonce)
      response.setHeader('content-type', 'application/octet-stream').end(makeIds(n))
    })
    await t.throwsAsync(connect(t, server, { waitMs: 0 }), { code: 'ERR_FLAKE_REPLAY', message: /without the nonce/ })
  }
})

test('no two requests have the same nonce, with and without crypto', async (t) => {
  const server = await startScripted(t)
  const { crypto } = globalThis
  for (const here of [crypto, undefined]) {
    Object.defineProperty(globalThis, 'crypto', { value: here, configurable: true, writable: true })
    await (await connect(t, server, { prefetch: 1 })).takeAsync(25_000)
  }
  globalThis.crypto = crypto
  const nonces = server.seen.map((headers) => headers['flakeforge-nonce'])
  t.true(nonces.length >= 8)
  t.is(new Set(nonces).size, nonces.length)
  for (const nonce of nonces) t.regex(nonce, /^[0-9a-f]{32}$/)
})

/** An answer with the IDs from `first` on. */
const answerOf = (first, n, slot, isOrdered = true) => {
  const ids = Buffer.alloc(n * 8)
  for (let i = 0; i < n; i++) ids.writeBigUInt64BE(BigInt(first + i), i * 8)
  return { ids, group: '00000000000000a1', slot, isOrdered }
}

test('the memory of answers has a bound: 1000 slots, 65 536 IDs without an order', (t) => {
  const repeats = new Repeats()
  for (let slot = 0; slot < 1001; slot++) t.is(repeats.find(answerOf(100, 10, String(slot))), undefined)
  t.is(repeats.find(answerOf(109, 10, '1000')), 109n)
  t.is(repeats.find(answerOf(50, 1, '1000')), 50n, 'none of those here, and yet before the last')
  t.is(repeats.find(answerOf(100, 10, '0')), undefined, 'the oldest was dropped')
  for (let at = 0; at < 70_000; at += 10_000) t.is(repeats.find(answerOf(at, 10_000, '7', false)), undefined)
  t.is(repeats.find(answerOf(69_000, 2000, '7', false)), 69_000n)
  t.is(repeats.find(answerOf(4_464, 10, null)), 4_464n, 'the last 65 536')
  t.is(repeats.find(answerOf(0, 4_464, null)), undefined)
})
