// Clients that send many requests at once, or do not read the answers: what each costs the server is bounded, and others are
// served meanwhile.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { FlakeId } from '../support/index.mjs'
import { arrived, asker, rawConnection } from '../support/service.mjs'

const test = anyTest
const withRedis = wantRedis() === undefined ? anyTest.skip : anyTest
const { createGroup } = FlakeId

const request = (path, method = 'GET') => `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const LAST = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
/** A layout with 16 IDs every 10 ms. */
const SLOW = JSON.stringify({
  epoch: 0,
  tickMs: 10,
  fields: Object.entries({ timestamp: 40, node: 20, counter: 4 }),
})
const answersIn = (text) => text.split('HTTP/1.1 ').length - 1

/** A connection that is closed when the test is over. */
function raw(t, server) {
  const connection = rawConnection(server.port)
  t.teardown(() => connection.socket.destroy())
  return connection
}

test('metrics are rendered once a second, however many requests arrive', async (t) => {
  const server = stopAfter(t, await startServer())
  const many = raw(t, server)
  const begun = performance.now()
  many.send(request('/metrics').repeat(1500) + LAST)
  await many.closed
  t.is(answersIn(many.text()), 1501)
  // Each rendering counts more answers of this route than the one before.
  const renderings = new Set(
    many.text().match(/^flakeforge_http_request_duration_seconds_count\{.*"\/metrics".*\} \d+$/gm),
  )
  t.true(renderings.size <= 1 + (performance.now() - begun) / 1000, `${renderings.size} renderings`)
})

test('another client is served before one that sent thousands of requests at once has its answers', async (t) => {
  const server = stopAfter(t, await startServer())
  for (const path of ['/livez', '/metrics', '/v1/names', '/v1/ids/default']) {
    const isIds = path.startsWith('/v1/ids')
    const many = raw(t, server)
    many.send(request(path, isIds ? 'POST' : 'GET').repeat(20_000) + LAST)
    await arrived(many, /HTTP\/1\.1 200 /)
    const { status } = await fetch(`${server.url}/v1/ids/default`, { method: 'POST' })
    t.is(status, 200)
    t.true(answersIn(many.text()) < 15_000, path)
    many.socket.destroy()
  }
})

test('all of very many requests at once are answered', async (t) => {
  const server = stopAfter(t, await startServer())
  const many = raw(t, server)
  many.send(request('/livez').repeat(30_000) + LAST)
  await many.closed
  t.is(answersIn(many.text()), 30_001)
})

test('what waits on many connections takes the memory of its bytes', async (t) => {
  const server = stopAfter(t, await startServer({ args: ['--layout', SLOW] }))
  const memory = (of) =>
    Number(new RegExp(`${of}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${server.child.pid}/status`))[1])
  const before = process.platform === 'linux' ? memory('VmRSS') : 0
  const small = request('/v1/ids/default?n=15', 'POST') // each waits for the next tick
  const all = Array.from({ length: 100 }, () => {
    const one = raw(t, server)
    one.send(small.repeat(Math.ceil(131_072 / small.length)))
    return one
  })
  for (const one of all) await arrived(one, /HTTP\/1\.1 200 /)
  t.true(all.every(({ socket }) => !socket.closed))
  if (process.platform !== 'linux') return
  const took = memory('VmHWM') - before
  t.true(took < 100_000, `${took} kB for 13 MB that wait`)
})

test('the time of a request begins when the ones before it were answered', async (t) => {
  const server = stopAfter(t, await startServer({ args: ['--layout', SLOW, '--request-ms', '400'] }))
  for (let i = 0; i < 2; i++) {
    const one = raw(t, server)
    one.send(request('/v1/ids/default?n=16', 'POST').repeat(100) + LAST.slice(0, 20)) // these take a second
    await until(() => answersIn(one.text()) === 100 || one.socket.closed)
    one.send(LAST.slice(20))
    await one.closed
    t.is(one.text().split('HTTP/1.1 200').length - 1, 101)
  }
})

test('requests are told apart wherever the network cuts them', async (t) => {
  const server = stopAfter(t, await startServer())
  const chunked = `${request('/livez').slice(0, -2)}Transfer-Encoding: chunked\r\n\r\n`
  const withLength = (body) => `${request('/livez').slice(0, -2)}Content-Length: ${body.length}\r\n\r\n${body}`
  const parts = [
    [request('/livez'), 200],
    [`\r\n\r\n\r\n${request('/livez')}`, 200],
    [withLength('a\r\n\r\nGET /none HTTP/1.1\r\n\r\n'), 200],
    [`${chunked}4\r\n\r\n\r\n\r\n0\r\n\r\n`, 200],
    [`${chunked}0\r\n\r\n`, 200],
    [`${request('/livez', 'POST').slice(0, -2)}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 405],
    [request('/none'), 404],
    [withLength(''), 200],
    [LAST, 200],
  ]
  const text = parts.map(([each]) => each).join('')
  const wanted = parts.map(([, status]) => status)
  for (let at = 1; at < text.length; at++) {
    const one = raw(t, server)
    await one.connected
    one.socket.setNoDelay(true)
    one.send(text.slice(0, at))
    if (at % 4 === 0 && at >= parts[0][0].length) await arrived(one, /HTTP/)
    one.send(text.slice(at))
    await one.closed
    const statuses = [...one.text().matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, each]) => Number(each))
    if (JSON.stringify(statuses) !== JSON.stringify(wanted)) return t.deepEqual(statuses, wanted, `cut at ${at}`)
  }
  t.pass()
})

test('answers that nobody reads are not made', async (t) => {
  const server = stopAfter(t, await startServer({ args: ['--layout', 'snowcast', '--request-ms', '3600000'] }))
  const metrics = async () => (await fetch(`${server.url}/metrics`)).text()
  const made = async () => Number(/^flakeforge_ids_total\{[^}]*\} (\d+)$/m.exec(await metrics())[1])
  const greedy = raw(t, server)
  await greedy.connected
  greedy.socket.pause()
  greedy.send(request('/v1/ids/default?n=10000', 'POST').repeat(200)) // 42 MB of answers
  await until(async () => (await made()) > 0)
  // Others take turns with it, so by now it could have had all of its answers.
  const OTHERS = 300
  for (let i = 0; i < OTHERS; i++) await (await fetch(`${server.url}/v1/ids/default`, { method: 'POST' })).text()
  const answered = /^flakeforge_http_request_duration_seconds_count\{method="POST".*status="200"\} (\d+)$/m
  await until(async () => Number(answered.exec(await metrics())?.[1]) >= OTHERS) // the rendering is newer than these
  const count = await made()
  t.true(count < 1_200_000, `${count} IDs for one that read none`) // what the system's buffers of a connection hold
  greedy.socket.resume()
  greedy.send(LAST)
  await greedy.closed
  t.is(new Set(greedy.text().match(/"\d+"/g)).size, 2_000_000, 'and once it reads, it gets all')
})

/** What follows requests for IDs on a connection, and the status of the last answer. */
const ENDS = {
  'a request that asks for the end': [LAST, 200],
  'more after a request that asked for the end': [LAST + request('/livez'), 200],
  'bytes that are not HTTP': ['\x16\x03\x01\r\n\r\n', 400],
  'a body with a bad chunk': [
    `${request('/livez', 'POST').slice(0, -2)}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`,
    400,
  ],
  'a body that never arrives': [`${request('/livez', 'POST').slice(0, -2)}Content-Length: 5\r\n\r\nab`, 408],
  CONNECT: ['CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n', 405],
}

for (const [what, [text, status]] of Object.entries(ENDS)) {
  test(`requests are answered in order before the connection ends because of ${what}`, async (t) => {
    const server = stopAfter(
      t,
      await startServer({ args: ['--layout', SLOW, '--request-ms', status === 408 ? '1000' : '60000'] }),
    )
    const one = raw(t, server)
    one.send(request('/v1/ids/default?n=100', 'POST').repeat(3) + text)
    await one.closed
    const statuses = [...one.text().matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, each]) => Number(each))
    t.deepEqual(statuses.slice(0, 3), [200, 200, 200])
    t.is(statuses.at(-1), status)
    const ids = one
      .text()
      .match(/\d{15,}/g)
      .map(BigInt)
    t.is(ids.length, 300)
    t.true(ids.every((id, i) => i === 0 || id > ids[i - 1]))
  })
}

withRedis('the slots of a large group come in pages, and the store is read once a second', async (t) => {
  const redis = stopAfter(t, await startRedis())
  await createGroup(redis.url, { group: 'large' })
  const server = stopAfter(t, await startServer({ args: ['--store', redis.url, '--name', 'large'] }))
  await fillSlots(redis, 2500)
  const ask = await asker(server.url)
  const begun = performance.now()
  const sent = await commandsOf(redis)
  const get = (from) => ask(t, 'GET', `/v1/slots/large${from === undefined ? '' : `?from=${from}`}`)
  const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => get([undefined, 0, 1000, 2000, 3000][i % 5])))
  const seconds = (performance.now() - begun) / 1000
  const reads = (await commandsOf(redis)) - sent
  // A read takes some commands, and so does a renewal of the server's own slot, every few seconds.
  t.true(reads < 40 * (1 + seconds), `${reads} commands for 300 requests in ${seconds} s`)
  const pages = answers.slice(0, 5).map(({ body }) => body)
  t.deepEqual(
    pages.map(({ slots, next }) => [slots.length, slots[0]?.slot, slots.at(-1)?.slot, next]),
    [
      [1000, 0, 999, 1000],
      [1000, 0, 999, 1000],
      [1000, 1000, 1999, 2000],
      [500, 2000, 2499, undefined],
      [0, undefined, undefined, undefined],
    ],
  )
  t.is(pages.flatMap(({ slots }) => slots).filter(({ mine }) => mine).length, 2, 'its own, in the first page twice')
  for (const from of ['500', '-1000', 'x', '1e3', '']) {
    const { status, body } = await ask(t, 'GET', `/v1/slots/large?from=${from}`)
    t.deepEqual([status, body.code], [400, 'ERR_FLAKE_OPTION'], from)
  }
})

const commandsOf = async (redis) => Number(/total_commands_processed:(\d+)/.exec(await redis.cli('INFO', 'stats'))[1])

/** Records of this many slots, as other members would have written them: copies of the one that exists. */
async function fillSlots(redis, count) {
  const hash = (await redis.cli('KEYS', '*records*')).split('\n')[0]
  const name = (await redis.cli('HKEYS', hash)).split('\n').find((each) => /^slot\d+$/.test(each))
  const record = await redis.cli('HGET', hash, name)
  const nameOf = (slot) => `slot${String(slot).padStart(name.length - 4, '0')}`
  const lines = Array.from({ length: count }, (_, slot) => nameOf(slot))
    .filter((each) => each !== name)
    .map(
      (each) =>
        `HSET ${hash} ${each} '${record.replaceAll(`"slot":${Number(name.slice(4))}`, `"slot":${Number(each.slice(4))}`)}'`,
    )
  const { status } = spawnSync('redis-cli', ['-p', String(redis.port)], { input: lines.join('\n') })
  if (status !== 0) throw new Error('redis-cli failed')
}
