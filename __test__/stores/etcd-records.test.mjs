// Records on a real etcd: read, swap and names, straight on the adapter.

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import { fake, startCluster, startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { freePort, stopAfter, until } from '../servers/server.mjs'
import { put, slotName, textOf } from '../support/records.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { Gateway } = require('../../target/rooms/lib/stores/etcd/gateway.js')
const { readOptions } = require('../../target/rooms/lib/stores/etcd/options.js')
const { EtcdRecords } = require('../../target/rooms/lib/stores/etcd/records.js')

const test = wantEtcd() === undefined ? anyTest.skip : anyTest

let server

anyTest.before(async () => {
  server = await startEtcd()
})

anyTest.after.always(async () => {
  await server?.stop()
})

/** Records through a separate client. */
const recordsOn = (endpoints, more) => new EtcdRecords(new Gateway(readOptions({ endpoints, ...more })))

/** A server that only this test uses. */
async function ownEtcd(t, options) {
  return stopAfter(t, await startEtcd(options))
}

/** A `fetch` that records requests, and lets a test act before (`before`) or after (`after`) them. */
function spyFetch() {
  const spy = async (url, options) => {
    const sent = { url, ...JSON.parse(options.body) }
    spy.sent.push(sent)
    await spy.before?.(sent)
    const response = await fetch(url, options)
    await spy.after?.(sent)
    return response
  }
  spy.sent = []
  return spy
}

const refused = (message) => ({ code: 'ERR_FLAKE_STORE', message })

// read

test('1 100 names are one transaction', async (t) => {
  const spy = spyFetch()
  const [records, spied] = [recordsOn(server.url), recordsOn(server.url, { fetch: spy })]
  const run = Array.from({ length: 1024 }, (_, i) => slotName(64_000 + i))
  const single = Array.from({ length: 75 }, (_, i) => slotName(i * 700))
  const names = ['group', ...single.toReversed(), ...run]
  const isWritten = (_, i) => i % 3 === 0
  const text = (name) => `${name} ${'\u{1f600}'.repeat(500)}`
  const { identity } = await records.read('many', [])
  for (const name of names.filter(isWritten)) t.true(await records.swap('many', name, null, text(name), identity))
  for (const outside of [slotName(63_999), slotName(65_024)]) await records.swap('many', outside, null, 'x', identity)
  const { values } = await spied.read('many', names)
  t.deepEqual(
    values,
    names.map((name, i) => (isWritten(name, i) ? text(name) : null)),
  )
  t.is(spy.sent.length, 1)
  t.is(spy.sent[0].success.length, 77, 'the run is one range, and no other slots are read')
})

test("the clock is the server's, in whole seconds; the history is the cluster's number", async (t) => {
  const records = recordsOn(server.url)
  const before = Math.floor(Date.now() / 1000) * 1000
  const first = await records.read('clock', ['group'])
  t.true(first.now >= before && first.now <= Date.now() && first.now % 1000 === 0, String(first.now))
  const { header } = JSON.parse(
    await server.ctl('get', 'nothing', '-w', 'json').then((text) => text.replace(/:(\d+)/g, ':"$1"')),
  )
  t.deepEqual(first.identity, { history: header.cluster_id, process: '' })
})

test('the key of a record has no etcd lease', async (t) => {
  await put(recordsOn(server.url), 'a/b ü\ud800', 'group', 'x')
  const key = 'flakeforge/records/a%2Fb%20%C3%BC%5Cud800/group'
  t.deepEqual(await server.keysUnder('flakeforge/records/a%2F'), [key])
  t.false((await server.ctl('get', key, '-w', 'json')).includes('"lease"'))
  t.is(await server.ctl('lease', 'list'), 'found 0 leases')
})

// Several endpoints

test('three members: each shows every swap at once, one alone answers nothing', async (t) => {
  const members = await startCluster()
  t.teardown(() => Promise.all(members.map((member) => member.stop())))
  const clients = members.map(({ url }) => recordsOn(url))
  for (let n = 0; n < 60; n++) {
    t.true(await put(clients[n % 3], 'g', 'group', String(n)))
    t.deepEqual(await Promise.all(clients.map((records) => textOf(records, 'g', 'group'))), Array(3).fill(String(n)))
  }
  const all = recordsOn(members.map(({ url }) => url))
  const before = await all.read('g', ['group'])
  await members[0].kill()
  await until(() => put(all, 'g', 'group', 'two of three').catch(() => false)) // while they elect a leader
  const after = await all.read('g', ['group'])
  t.deepEqual(after.identity, before.identity)
  t.true(after.position > before.position)
  await members[1].kill()
  await t.throwsAsync(clients[2].read('g', ['group']), { code: 'ERR_FLAKE_STORE' })
})

test('the next endpoint is asked only if one fails, and from then on it is first', async (t) => {
  const down = `http://127.0.0.1:${await freePort()}`
  const spy = spyFetch()
  const records = recordsOn([down, `${server.url}/`], { fetch: spy })
  await records.read('endpoints', ['group'])
  await records.read('endpoints', ['group'])
  t.deepEqual(
    spy.sent.map(({ url }) => new URL(url).origin),
    [down, server.url, server.url],
  )
  const error = await t.throwsAsync(recordsOn(down).read('g', ['group']), refused(/ECONNREFUSED/))
  t.true(error.message.includes(down))
})

test('a swap whose answer was lost is sent again: false, and written once', async (t) => {
  const own = await ownEtcd(t)
  const spy = spyFetch()
  const records = recordsOn([own.url, own.url], { fetch: spy })
  t.true(await put(records, 'lost', 'group', 'one'))
  const { identity, position } = await records.read('lost', [])
  spy.after = () => {
    spy.after = undefined
    throw new TypeError('cut')
  }
  t.false(await records.swap('lost', 'group', 'one', 'two', identity))
  const after = await records.read('lost', ['group'])
  t.deepEqual(after.values, ['two'])
  t.is(after.position, position + 1)
})

test('a swap that two members execute late and early takes effect once', async (t) => {
  const spy = spyFetch()
  const records = recordsOn([server.url, server.url], { fetch: spy })
  const { identity } = await records.read('late', [])
  await records.swap('late', 'group', null, 'one', identity)
  let late
  spy.before = (sent) => {
    spy.before = undefined
    late = () => fetch(sent.url, { method: 'POST', body: JSON.stringify(sent) }).then((response) => response.json())
    throw new TypeError('cut')
  }
  t.true(await records.swap('late', 'group', 'one', 'two', identity))
  t.true(await records.swap('late', 'group', 'two', 'three', identity))
  const { url, ...answer } = await late()
  t.falsy(answer.succeeded)
  t.is(await textOf(records, 'late', 'group'), 'three')
})

test('a swap whose step has run out of time goes to no other member', async (t) => {
  const spy = spyFetch()
  const records = recordsOn([server.url, server.url], { fetch: spy })
  const { identity } = await records.read('over', [])
  spy.before = () => sleep(60) // the first member does not answer in time
  const signal = AbortSignal.timeout(50)
  await t.throwsAsync(records.swap('over', 'group', null, 'late', identity, signal), { code: 'ERR_FLAKE_STORE' })
  t.is(spy.sent.length, 2, 'a read and a swap')
})

/** A `fetch` that never answers, and how long each call waited. */
function hungFetch() {
  const waits = []
  async function hung(_, { signal }) {
    const start = performance.now()
    await once(signal, 'abort')
    waits.push(performance.now() - start)
    throw signal.reason
  }
  /** After the last long wait there may be a millisecond left, for one more. */
  const longWaits = () => waits.filter((ms) => ms > 2000).length
  return Object.assign(hung, { longWaits })
}

test('getting a token is part of the time that a call may take', async (t) => {
  const [hungToken, hungTxn] = [hungFetch(), hungFetch()]
  let tokens = 0
  async function secondGivesToken(url, options) {
    if (url.endsWith('/txn')) return hungTxn(url, options)
    tokens += 1
    if (tokens === 1) return hungToken(url, options)
    return new Response('{"token":"t"}', { headers: { date: new Date().toUTCString() } })
  }
  const never = hungFetch()
  const endpoints = ['http://one:1', 'http://two:2', 'http://three:3']
  const calls = [secondGivesToken, never].map((fetch) =>
    recordsOn(endpoints, { username: 'me', password: 'secret', fetch }).read('g', ['group']),
  )
  const alive = setTimeout(() => {}, 60_000) // AbortSignal.timeout keeps no process alive
  for (const call of calls) {
    const error = await t.throwsAsync(call, refused(/does not answer at http:\/\/one/))
    t.false(error.message.includes('secret'))
  }
  clearTimeout(alive)
  t.deepEqual(
    [hungToken, hungTxn, never].map(({ longWaits }) => longWaits()),
    [1, 1, 2],
  )
})

const DATE = { date: 'Thu, 01 Jan 2026 00:00:00 GMT' }
const HEADER = '"header":{"cluster_id":"1","revision":"5"}'

for (const [what, status, body, message] of [
  ['no header', 200, '{"succeeded":true}', /not etcd's answer.*succeeded/],
  ['no cluster', 200, '{"header":{"revision":"1"}}', /not etcd's answer/],
  ['no revision', 200, '{"header":{"cluster_id":"1"}}', /not etcd's answer/],
  ['no values', 200, `{${HEADER},"succeeded":true}`, /not etcd's answer/],
  ['a list', 200, '[]', /not etcd's answer/],
  ['nothing', 200, 'null', /HTTP 200 and no JSON: null/],
  ['a page', 404, '<html>', /HTTP 404 and no JSON: <html>/],
  ['another status', 418, '{}', /HTTP 418/],
]) {
  test(`an answer with ${what} is an error`, async (t) => {
    const url = await fake(t, (_, response) => response.writeHead(status, DATE).end(body))
    await t.throwsAsync(recordsOn(url).read('g', ['group']), refused(message))
  })
}

test('an answer without the Date header is an error, because it is the clock', async (t) => {
  const url = await fake(t, (_, response) => {
    response.sendDate = false
    response.end(`{${HEADER},"succeeded":true,"responses":[{"response_range":{}}]}`)
  })
  await t.throwsAsync(recordsOn(url).read('g', ['group']), refused(/no Date header/))
})

// Users, and the rest

test('any etcd may be durable, and close ends nothing', async (t) => {
  const records = recordsOn(server.url)
  t.is(await records.checkDurable(), undefined)
  await records.close()
  t.deepEqual((await records.read('closed', ['group'])).values, [null])
})
