// POST /v1/ids/{name}: the forms of its answers, the requests that it rejects, and how it waits.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DiscordSnowflake, TwitterSnowflake } from '@sapphire/snowflake'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { until } from '../servers/server.mjs'
import { isAscending } from '../support/index.mjs'
import { arrived, asker, idsIn, passingFolder, rawConnection } from '../support/service.mjs'

const NAMES = {
  orders: { layout: 'twitter' },
  slow: { layout: 'sonyflake' },
  slowest: {
    layout: { epoch: 1577836800000, tickMs: 1000, fields: Object.entries({ timestamp: 40, node: 20, counter: 4 }) },
  },
  chronicle: { layout: 'chronicle' },
  'a/b ü': { group: 'odd' },
  invoices: { segment: 'invoices', block: 5 },
  counted: { segment: 'counted', block: 1000 },
  others: { segment: 'others', block: 5 },
  spread: { layout: 'uniqueid' },
  sequential: { layout: 'uniqueid', mode: 'sequential' },
  reversed: { mode: 'spread' },
  copied: { layout: { fields: Object.entries({ timestamp: 42, node: 10, counter: 12 }), mode: 'spread' } },
}

let server
let ask

test.before(async () => {
  const folder = passingFolder()
  const file = join(folder, 'names.json')
  await writeFile(file, JSON.stringify({ names: NAMES, maxWaiting: 2, waitMs: 3000 }))
  server = await startServer({ args: ['--config', file] })
  ask = await asker(server.url)
})

test.after.always(() => server?.stop())

const take = (t, path, accept) => ask(t, 'POST', path, accept === undefined ? {} : { headers: { accept } })

test('JSON has one ID as decimal text, and the headers tell its layout, group and slot', async (t) => {
  const before = Date.now()
  const { status, body, headers } = await take(t, '/v1/ids/orders')
  t.is(status, 200)
  t.is(body.name, 'orders')
  t.is(body.ids.length, 1)
  const { timestamp } = TwitterSnowflake.deconstruct(body.ids[0])
  t.true(Number(timestamp) >= before - 5 && Number(timestamp) <= Date.now() + 5, 'as an oracle reads it')
  t.is(
    headers.get('flakeforge-layout'),
    'epoch 1288834974657, tick 1 ms, timestamp 41 bits at 22, counter 12 bits at 0',
  )
  t.regex(headers.get('flakeforge-group'), /^[0-9a-f]{16}$/)
  t.is(headers.get('flakeforge-slot'), '0')
  t.not(
    Number(DiscordSnowflake.deconstruct(body.ids[0]).timestamp),
    Number(timestamp),
    'the oracle tells layouts apart',
  )
})

test('text has lines, bytes are big-endian, and all forms come from one order', async (t) => {
  const text = await take(t, '/v1/ids/orders?n=3', 'text/plain')
  t.is(text.type, 'text/plain')
  t.regex(text.body, /^(?:\d{18,20}\n){3}$/)
  const bytes = await take(t, '/v1/ids/orders?n=1000', 'application/octet-stream')
  t.is(bytes.body.length, 8000)
  const json = await take(t, '/v1/ids/orders?n=50')
  const one = await take(t, '/v1/ids/orders', 'text/plain')
  const byte = await take(t, '/v1/ids/orders', 'application/octet-stream')
  t.is(byte.body.length, 8)
  const all = [
    ...text.body.trim().split('\n'),
    ...idsIn(bytes.body),
    ...json.body.ids,
    one.body.trim(),
    ...idsIn(byte.body),
  ]
  t.true(isAscending(all.map(BigInt)))
})

test.serial('10 000 at once, and more than a tick has: the server waits without delaying others', async (t) => {
  for (const accept of ['application/json', 'text/plain', 'application/octet-stream']) {
    const { status, body } = await take(t, '/v1/ids/orders?n=10000', accept)
    t.is(status, 200)
    const ids =
      accept === 'application/json' ? body.ids : accept === 'text/plain' ? body.trim().split('\n') : idsIn(body)
    t.is(new Set(ids.map(String)).size, 10_000)
    t.true(isAscending(ids.map(BigInt)))
  }
  const slow = take(t, '/v1/ids/slow?n=10000', 'application/octet-stream') // 40 ticks of 10 ms
  let asked = 0
  let isDone = false
  slow.finally(() => {
    isDone = true
  })
  while (!isDone) {
    t.is((await take(t, '/v1/ids/orders')).status, 200)
    asked++
  }
  t.true(isAscending(idsIn((await slow).body)))
  t.true(asked > 1, `${asked} others were answered meanwhile`)
})

test('the answer repeats the nonce of its request, and no other answer does', async (t) => {
  const nonces = ['0123456789abcdef', 'A-Za_z0123456789'.repeat(4)]
  for (const path of ['/v1/ids/orders', '/v1/ids/orders?n=3', '/v1/ids/slow?n=600', '/v1/ids/others?n=7'])
    for (const accept of ['application/json', 'text/plain', 'application/octet-stream'])
      for (const nonce of nonces) {
        const { status, headers } = await ask(t, 'POST', path, { headers: { accept, 'flakeforge-nonce': nonce } })
        t.deepEqual([status, headers.get('flakeforge-nonce')], [200, nonce])
      }
  t.is((await take(t, '/v1/ids/orders')).headers.get('flakeforge-nonce'), null)
})

test('a malformed nonce is rejected before an ID is taken', async (t) => {
  const numbers = async () => BigInt((await take(t, '/v1/ids/counted')).body.ids[0])
  const before = await numbers()
  for (const nonce of [
    '',
    'short',
    'a'.repeat(15),
    'a'.repeat(65),
    '0123456789abcde!',
    '0123456789 abcdef',
    '0123456789abcdef, 0123456789abcdef',
    'ü'.repeat(16),
  ]) {
    const { status, body } = await ask(t, 'POST', '/v1/ids/counted', { headers: { 'flakeforge-nonce': nonce } })
    t.deepEqual([status, body.code], [400, 'ERR_FLAKE_NONCE'], nonce)
    t.regex(body.detail, /16 to 64 letters/)
  }
  t.is(await numbers(), before + 1n)
})

test('only a layout that spreads the IDs of a slot is announced as unordered', async (t) => {
  const orderOf = async (name) => (await take(t, `/v1/ids/${name}`)).headers.get('flakeforge-order')
  for (const name of ['spread', 'reversed', 'copied']) t.is(await orderOf(name), 'none', name)
  for (const name of ['orders', 'sequential', 'chronicle', 'others']) t.is(await orderOf(name), null, name)
})

test('requests at the same time get different IDs', async (t) => {
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => take(t, `/v1/ids/orders?n=${i + 1}`)))
  const ids = answers.flatMap(({ body }) => body.ids)
  t.is(ids.length, 1275)
  t.is(new Set(ids).size, 1275)
})

test('layouts without a counter and names of any kind', async (t) => {
  const { body } = await take(t, '/v1/ids/chronicle?n=5')
  t.true(isAscending(body.ids.map(BigInt)))
  const odd = await take(t, `/v1/ids/${encodeURIComponent('a/b ü')}`)
  t.is(odd.body.name, 'a/b ü')
})

test('a segment counts, and waits for its next block', async (t) => {
  const ids = []
  for (const n of [1, 3, 1, 12, 1]) ids.push(...(await take(t, `/v1/ids/invoices?n=${n}`)).body.ids.map(Number))
  t.deepEqual(
    ids,
    Array.from({ length: 18 }, (_, i) => ids[0] + i),
  )
  const { headers } = await take(t, '/v1/ids/invoices', 'text/plain')
  t.deepEqual([headers.get('flakeforge-layout'), headers.get('flakeforge-slot')], [null, null])
  t.regex(headers.get('flakeforge-group'), /^[0-9a-f]{16}$/)
})

const ACCEPT = {
  '*/*': 'application/json',
  'text/*': 'text/plain',
  'application/*': 'application/json',
  'text/plain, application/json;q=0.9': 'text/plain',
  'text/plain;q=0.5, application/json;q=0.9': 'application/json',
  'text/html, application/octet-stream;q=0.1': 'application/octet-stream',
  'application/json;q=0, */*': 'text/plain',
  'TEXT/PLAIN': 'text/plain',
  '*': 'application/json',
  'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2': 'application/json', // Java's own client
  'application/json; charset=utf-8': 'application/json',
  'application/json;charset="UTF-8"': 'application/json',
  'text/plain; charset=utf-8, */*;q=0.1': 'text/plain',
}

for (const [accept, type] of Object.entries(ACCEPT)) {
  test(`Accept: ${accept}`, async (t) => t.is((await take(t, '/v1/ids/orders', accept)).type, type))
}

test('an unacceptable form is 406, which names the available ones', async (t) => {
  for (const accept of ['text/html', 'application/json;q=0', 'text/plain; charset=latin1', 'nonsense']) {
    const { status, body } = await take(t, '/v1/ids/orders', accept)
    t.is(status, 406, accept)
    t.is(body.code, 'ERR_FLAKE_ACCEPT')
    t.true(body.detail.includes('application/octet-stream'))
  }
})

for (const n of ['0', '10001', '-1', '1.5', '1e3', '', 'x', '0x10', '٣', '+1', ' 1', '01', '99999999999999999999']) {
  test(`n=${n} is rejected, with the bounds`, async (t) => {
    const { status, body } = await take(t, `/v1/ids/orders?n=${encodeURIComponent(n)}`)
    t.is(status, 400)
    t.is(body.code, 'ERR_FLAKE_OPTION')
    t.regex(body.detail, /^n must be an integer from 1 to 10000/)
  })
}

test('unknown parameters, parameters given twice, unknown names and routes are rejected', async (t) => {
  const problem = async (path, method = 'POST') => {
    const { status, body } = await ask(t, method, path)
    return [status, body.code, body.detail]
  }
  t.deepEqual(await problem('/v1/ids/orders?m=3'), [
    400,
    'ERR_FLAKE_OPTION',
    "Unknown parameter 'm'. This route has n.",
  ])
  t.deepEqual((await problem('/v1/ids/orders?n=3&n=4')).slice(0, 2), [400, 'ERR_FLAKE_OPTION'])
  t.deepEqual(await problem('/v1/ids/oders'), [
    404,
    'ERR_FLAKE_NAME',
    "This server has no name 'oders'. Did you mean 'orders'?",
  ])
  t.regex((await problem('/v1/ids/users'))[2], /Its names are 'orders', 'slow'/)
  for (const length of [2049, 3000, 12_000]) {
    const [status, code, detail] = await problem(`/v1/ids/${'a'.repeat(length)}`)
    t.deepEqual([status, code, detail.length < 300], [404, 'ERR_FLAKE_NAME', true], `a name of ${length} characters`)
  }
  for (const path of '/v1/ids,/v1/ids/,/v1/ids/orders/,/v2/ids/orders,/v1/ids/a/b,//,/V1/ids/orders'.split(',')) {
    t.deepEqual(
      (await problem(path)).slice(0, 2),
      [404, path === '/v1/ids/' ? 'ERR_FLAKE_NAME' : 'ERR_FLAKE_ROUTE'],
      path,
    )
  }
  t.deepEqual((await problem('/v1/ids/%zz')).slice(0, 2), [400, 'ERR_FLAKE_ROUTE'])
  t.deepEqual((await problem('/v1/ids/__proto__')).slice(0, 2), [404, 'ERR_FLAKE_NAME'])
})

test('other methods are 405 and name POST: a cached GET would be a duplicate', async (t) => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const { status, body, headers } = await ask(t, method, '/v1/ids/orders')
    t.deepEqual([status, body.code, headers.get('allow')], [405, 'ERR_FLAKE_METHOD', 'POST'], method)
  }
  const head = await fetch(`${server.url}/v1/ids/orders`, { method: 'HEAD' })
  t.is(head.status, 405)
  const raw = rawConnection(server.port)
  raw.send('PROPFIND /v1/ids/orders HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await arrived(raw, /^HTTP\/1.1 405 .*allow: POST/s)
  raw.socket.destroy()
})

test('a body is rejected, of whatever type, unless it is empty', async (t) => {
  for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'nonsense', 'a/b']) {
    const headers = { 'content-type': type }
    if (type !== 'nonsense') t.is((await ask(t, 'POST', '/v1/ids/orders', { headers })).status, 200, `${type}, no body`)
    const { status, body } = await ask(t, 'POST', '/v1/ids/orders', { headers, body: '{"n":5}' })
    t.true(status === 400 || status === 415, `${type}: ${status}`)
    t.is(body.code, 'ERR_FLAKE_BODY')
  }
  const { status } = await ask(t, 'POST', '/v1/ids/orders', { body: 'x'.repeat(2000) })
  t.is(status, 413)
})

const metrics = async () => (await fetch(`${server.url}/metrics`)).text()

/** Resolves once this many requests wait. */
const untilWaiting = (count) =>
  until(async () => /^flakeforge_http_requests_waiting (\d+)$/m.exec(await metrics())[1] === String(count))

test.serial(
  'when too many requests wait, further ones are told to come later; abandoned ones free their places',
  async (t) => {
    const [first, second] = [new AbortController(), new AbortController()]
    const gone = [first, second].map(({ signal }) =>
      fetch(`${server.url}/v1/ids/slowest?n=1000`, { method: 'POST', signal }).catch((error) => error.name),
    )
    await untilWaiting(2)
    const { status, body } = await take(t, '/v1/ids/slowest?n=1000')
    t.deepEqual([status, body.code], [503, 'ERR_FLAKE_BUSY'])
    t.regex(body.detail, /^2 clients wait for IDs already\. /)
    t.is((await take(t, '/v1/ids/orders')).status, 200, 'requests that need not wait are served')
    first.abort()
    await untilWaiting(1)
    second.abort()
    await untilWaiting(0)
    t.deepEqual(await Promise.all(gone), ['AbortError', 'AbortError'])
  },
)

test.serial('one client with many requests at once takes one place, and all of its requests are served', async (t) => {
  const raw = rawConnection(server.port)
  t.teardown(() => raw.socket.destroy())
  raw.send('POST /v1/ids/slow?n=10000 HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(4)) // 0.8 s
  await untilWaiting(1)
  t.is((await take(t, '/v1/ids/slow?n=300')).status, 200)
  await until(() => raw.text().split('HTTP/1.1 200 ').length === 5)
})

test.serial('a wait ends after waitMs, with the code for that', async (t) => {
  const { status, body } = await take(t, '/v1/ids/slowest?n=10000')
  t.deepEqual([status, body.code], [503, 'ERR_FLAKE_TIMEOUT'])
  t.regex(body.detail, /within 3000 ms/)
  const [, seconds] = /^flakeforge_http_request_duration_seconds_sum\{.*status="503".*\} (\S+)$/m.exec(await metrics())
  t.true(Number(seconds) >= 3, `refusals took ${seconds} s together, the wait among them`)
})
