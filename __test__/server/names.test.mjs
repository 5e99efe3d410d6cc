// GET /v1/names, /v1/slots and /v1/inspect, what pages of other origins may do, and the rate of one client.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DiscordSnowflake } from '@sapphire/snowflake'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { stopAfter } from '../servers/server.mjs'
import { FlakeId } from '../support/index.mjs'
import { arrived, asker, passingFolder, rawConnection } from '../support/service.mjs'
import { until } from '../support/waits.mjs'

const { Layout, layouts } = FlakeId
const ORIGIN = 'https://shop.example'
const RATE = 500 // more than all tests here need in a second
const SPEC = { epoch: 1577836800000, fields: Object.entries({ timestamp: 41, shard: 5, counter: 18 }) }
const NAMES = {
  users: { layout: 'discord', group: 'people' },
  own: { layout: SPEC },
  spread: { layout: 'uniqueid', mode: 'spread' },
  many: { layout: 'snowcast', nodes: 256, idOffset: '8388608' },
  invoices: { segment: 'invoices' },
}

let server
let ask

test.before(async () => {
  const file = join(passingFolder(), 'names.json')
  await writeFile(file, JSON.stringify({ names: NAMES, cors: [ORIGIN], rate: RATE, maxDelayMs: 60_000 }))
  server = await startServer({ args: ['--config', file] })
  ask = await asker(server.url)
})

test.after.always(() => server?.stop())

const get = (t, path) => ask(t, 'GET', path)
const one = async (t, name) => (await ask(t, 'POST', `/v1/ids/${name}`)).body.ids[0]

test('the names, with the information to decode their IDs elsewhere', async (t) => {
  const { names } = (await get(t, '/v1/names')).body
  t.deepEqual(
    names.map(({ name, kind, group, segment }) => [name, kind, group ?? segment]),
    [
      ['users', 'group', 'people'],
      ['own', 'group', 'own'],
      ['spread', 'group', 'spread'],
      ['many', 'group', 'many'],
      ['invoices', 'segment', 'invoices'],
    ],
  )
  for (const { name, layout } of names.filter(({ kind }) => kind === 'group')) {
    const { epoch, nodes, mode, idOffset, fields } = layout
    const choices = { epoch, nodes, mode, idOffset: idOffset === undefined ? undefined : BigInt(idOffset) }
    const made = new Layout(layout.name in layouts ? layout.name : { epoch, fields }, choices)
    const id = await one(t, name)
    const { timestamp } = made.decode(id)
    t.true(Math.abs(timestamp - Date.now()) < 60_000, `${name}: ${timestamp}`)
    const { body } = await get(t, `/v1/inspect/${id}?name=${encodeURIComponent(name)}`)
    t.is(body.timestamp, timestamp, name)
  }
})

test('inspect reads an ID as an oracle does', async (t) => {
  const id = '175928847299117063' // from Discord's documentation
  const { body } = await get(t, `/v1/inspect/${id}`)
  const { timestamp, workerId, processId, increment } = DiscordSnowflake.deconstruct(id)
  t.deepEqual(body, {
    id,
    hex: BigInt(id).toString(16).padStart(16, '0'),
    bits: BigInt(id).toString(2).padStart(64, '0'),
    layout: 'discord',
    timestamp: Number(timestamp),
    date: '2016-04-30T11:18:25.796Z',
    tick: String(Number(timestamp) - 1420070400000),
    counter: Number(increment),
    node: Number(workerId) * 32 + Number(processId),
    fields: { worker: Number(workerId), process: Number(processId) },
  })
  const hex = await get(t, `/v1/inspect/0x${body.hex}?name=users`)
  const binary = await get(t, `/v1/inspect/0b${body.bits}?layout=discord`)
  t.deepEqual([hex.body, binary.body], [body, body])
})

test('the smallest and the largest ID of every layout', async (t) => {
  for (const layout of Object.keys(layouts)) {
    for (const id of [0n, 2n ** 64n - 1n]) {
      const { status, body } = await get(t, `/v1/inspect/${id}?layout=${layout}`)
      t.true(status === 200 || body.code === 'ERR_FLAKE_ID', `${layout} ${id}: ${status}`)
    }
  }
})

test('an invalid ID, layout, name or parameter is rejected', async (t) => {
  const problem = async (path) => {
    const { status, body } = await get(t, path)
    return [status, body.code]
  }
  for (const id of ['abc', '-1', '18446744073709551616', '0xg', '1.5', '%20']) {
    t.deepEqual(await problem(`/v1/inspect/${id}`), [400, 'ERR_FLAKE_ID'], id)
  }
  t.deepEqual(await problem('/v1/inspect/1?layout=twiter'), [400, 'ERR_FLAKE_OPTION'])
  t.deepEqual(await problem('/v1/inspect/1?nam=users'), [400, 'ERR_FLAKE_OPTION'])
  t.deepEqual(await problem('/v1/inspect/1?name=nobody'), [404, 'ERR_FLAKE_NAME'])
  t.deepEqual(await problem('/v1/inspect/1?name=invoices'), [404, 'ERR_FLAKE_NAME'])
  t.deepEqual(await problem('/v1/names?x=1'), [400, 'ERR_FLAKE_OPTION'])
  t.deepEqual(await problem('/v1/slots/nobody'), [404, 'ERR_FLAKE_NAME'])
  const { status, body } = await get(t, '/v1/slots/invoices')
  t.is(status, 404)
  t.regex(body.detail, /'invoices' is a segment/)
})

test('/openapi.json says which texts may be IDs', async (t) => {
  const { body } = await get(t, '/openapi.json')
  const { parameters } = body.paths['/v1/inspect/{id}'].get
  const pattern = new RegExp(parameters.find(({ name }) => name === 'id').schema.pattern)
  for (const id of '0,007,0x7b,0X7B,0b11,0B1,abc,-1,0x,0xg,0b2,1.5,1e3,0o7, 1'.split(',')) {
    const { status } = await get(t, `/v1/inspect/${encodeURIComponent(id)}`)
    t.is(pattern.test(id), status === 200, id)
  }
})

test('/openapi.json has a name for each operation, and says which of them need a token', async (t) => {
  const { body } = await get(t, '/openapi.json')
  const operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security }]) => [`${method} ${path}`, operationId, security]),
  )
  t.deepEqual(operations.map(([route, id]) => `${route} ${id}`).sort(), [
    'get /livez isAlive',
    'get /metrics getMetrics',
    'get /openapi.json getDocument',
    'get /readyz isReady',
    'get /v1/inspect/{id} inspectId',
    'get /v1/names getNames',
    'get /v1/slots/{name} getSlots',
    'post /v1/ids/{name} takeIds',
  ])
  const open = operations.filter(([, , security]) => security?.length === 0).map(([route]) => route)
  t.deepEqual(open.sort(), ['get /livez', 'get /readyz'])
  t.deepEqual(body.security, [{ token: [] }, {}], 'this server needs no token')
})

test('the slots of a group', async (t) => {
  const { body } = await get(t, '/v1/slots/users')
  t.deepEqual([body.name, body.group, body.slots.length], ['users', 'people', 1])
  t.like(body.slots[0], { slot: 0, held: true, mine: true })
})

test('pages of the origin may send requests and see our headers, those of others may not', async (t) => {
  const from = (origin, method = 'POST') => {
    const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
    const headers = { origin, ...(method === 'OPTIONS' && preflight) }
    return fetch(`${server.url}/v1/ids/users`, { method, headers })
  }
  const { status, headers } = await from(ORIGIN)
  t.is(status, 200)
  t.is(headers.get('access-control-allow-origin'), ORIGIN)
  t.is(
    headers.get('access-control-expose-headers'),
    'flakeforge-layout, flakeforge-group, flakeforge-slot, flakeforge-order, flakeforge-nonce, retry-after',
  )
  t.is(headers.get('x-ratelimit-limit'), String(RATE))
  const preflight = await from(ORIGIN, 'OPTIONS')
  t.is(preflight.status, 204)
  t.regex(preflight.headers.get('access-control-allow-methods'), /POST/)
  t.regex(preflight.headers.get('access-control-allow-headers'), /authorization/)
  t.is((await from('https://other.example')).headers.get('access-control-allow-origin'), null)
})

test('beyond the rate it is 429 with Retry-After, and health checks continue', async (t) => {
  const slow = stopAfter(t, await startServer({ args: ['--rate', '20'] }))
  const askSlow = await asker(slow.url)
  const raw = rawConnection(slow.port)
  raw.send('POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(500)) // in less than 25 s
  await arrived(raw, /HTTP\/1\.1 429 [^{]*retry-after: 1[^{]*\{[^}]*"ERR_FLAKE_RATE"/i)
  const guessing = rawConnection(slow.port)
  guessing.send('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(500))
  await arrived(guessing, /HTTP\/1\.1 429 [^{]*\{[^}]*"ERR_FLAKE_RATE"/i) // unknown routes count too
  guessing.socket.destroy()
  t.is((await fetch(`${slow.url}/livez`)).status, 200)
  await until(() => raw.text().split('HTTP/1.1 ').length > 500)
  raw.socket.destroy()
  await until(async () => (await fetch(`${slow.url}/v1/names`)).status !== 429)
  t.is((await askSlow(t, 'POST', '/v1/ids/default')).status, 200)
})
