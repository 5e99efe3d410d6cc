// The part of the client that `elseFrom` of join() uses by itself: IDs and JSON from the first server that answers.

import { createRequire } from 'node:module'
import test from 'ava'
import { connect, cut, giveIds, hang, idsIn, problem, startScripted } from './scripted-server.mjs'

const require = createRequire(import.meta.url)
const { readRemote } = require('../../lib/remote/options.js')
const { Servers } = require('../../lib/remote/servers.js')

const serversOf = (servers, { accept, ...options } = {}) =>
  new Servers({
    ...readRemote(
      [servers].flat().map(({ url }) => url),
      { name: 'orders', ...options },
    ),
    accept,
  })

const json = (value) => (_request, response) =>
  response.setHeader('content-type', 'application/json').end(typeof value === 'string' ? value : JSON.stringify(value))

test('clients begin with servers by chance, so that together they use all', async (t) => {
  const servers = await Promise.all([startScripted(t), startScripted(t), startScripted(t)])
  const remotes = await Promise.all(Array.from({ length: 60 }, () => connect(t, servers)))
  for (const { counts } of servers) t.true(counts.length >= 3, 'by chance once in 10^8 runs')
  t.deepEqual([...new Set(remotes.map(({ stats }) => stats.server))].sort(), servers.map(({ url }) => url).sort())
})

test('take() makes as many requests as it needs, one after the other, and waits while servers fail', async (t) => {
  const server = await startScripted(t)
  let failures = 0
  server.script = (...args) => (server.counts.length > 1 && ++failures <= 3 ? cut : giveIds)(...args)
  const servers = serversOf(server)
  const ids = idsIn(await servers.take(25_000))
  t.is(new Set(ids).size, 25_000)
  t.deepEqual(server.counts, [10_000, 10_000, 10_000, 10_000, 10_000, 5_000])
  t.is(server.most, 1)
  t.is(servers.retries, 3)
  t.is((await servers.take(0)).length, 0)
})

test('take() ends with its signal, and with one error when waitMs is over', async (t) => {
  const server = await startScripted(t, hang)
  const controller = new AbortController()
  const taking = serversOf(server).take(5, { signal: controller.signal })
  await server.asked(1)
  controller.abort(new Error('enough'))
  await t.throwsAsync(taking, { message: 'enough' })
  server.script = cut
  await t.throwsAsync(serversOf(server, { waitMs: 3_000 }).take(5), { code: 'ERR_FLAKE_REMOTE' })
  t.true(server.counts.length > 2, 'it tried more than once')
})

test('accept() sees each answer before its IDs are used; what it throws ends the call, and no other server is asked', async (t) => {
  const servers = await Promise.all([startScripted(t), startScripted(t)])
  const seen = []
  const accept = async (response, server) => {
    seen.push([response.status, server])
    if (seen.length === 2) throw new RangeError('not this one')
  }
  const both = serversOf(servers, { accept })
  t.is((await both.take(5)).length, 40)
  await t.throwsAsync(both.take(5), { instanceOf: RangeError, message: 'not this one' })
  t.deepEqual(seen, [
    [200, both.current],
    [200, both.current],
  ])
  t.is(servers[0].counts.length + servers[1].counts.length, 2)
})

test('get() gives the JSON of one server, or says what was wrong', async (t) => {
  const server = await startScripted(t, json({ slots: [] }))
  const servers = serversOf(server, { token: 'a-token-of-this-test', timeoutMs: 4_000 })
  t.deepEqual(await servers.get(server.url, 'v1/slots/orders'), { slots: [] })
  t.deepEqual(server.paths, ['GET /v1/slots/orders'])
  t.like(server.seen[0], { authorization: 'Bearer a-token-of-this-test', accept: 'application/json' })
  for (const [script, code, message] of [
    [json('<html>'), 'ERR_FLAKE_REMOTE', /answered 200 with something that is no JSON\.$/],
    [problem(404, { code: 'ERR_FLAKE_NAME', detail: 'No such name.' }), 'ERR_FLAKE_NAME', /404 .*: No such name\.$/],
    [problem(503, { code: 'ERR_FLAKE_STORE', detail: 'Away.' }), 'ERR_FLAKE_STORE', /503 .*: Away\.$/],
    [cut, 'ERR_FLAKE_REMOTE', /could not be reached/],
    [hang, 'ERR_FLAKE_REMOTE', /did not answer within 4000 ms\.$/],
  ]) {
    server.script = script
    const error = await t.throwsAsync(servers.get(server.url, 'v1/slots/orders'), { code, message })
    t.is(error.server, server.url)
  }
})
