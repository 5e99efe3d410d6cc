// What servers answer instead of IDs: the client continues with the next server, reports what was wrong where there is
// none, and never treats such an answer as IDs.

import { gzipSync } from 'node:zlib'
import test from 'ava'
import { connect, connectToFirst, cut, giveIds, idsIn, makeIds, problem, startScripted } from './scripted-server.mjs'

const bytes = (make) => (_request, response, n) =>
  response.setHeader('content-type', 'application/octet-stream').end(make(n))
const page = (status) => (_request, response) =>
  response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Please log in to this network</h1>')

/** n IDs, reversed. */
const descending = (n) =>
  Buffer.concat([...makeIds(n).toString('hex').matchAll(/.{16}/g)].reverse().map(([id]) => Buffer.from(id, 'hex')))

/** Sends a part of what it announces, and ends. */
function half(_request, response, n) {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': n * 8 })
  response.write(makeIds(n).subarray(0, n * 4), () => response.destroy())
}

/** Never stops sending. */
function endless(_request, response) {
  response.writeHead(200, { 'content-type': 'application/octet-stream' })
  const more = () => response.destroyed || response.write(Buffer.alloc(65_536, 1), more)
  more()
}

/** What a server does instead of answering with IDs, and how the error describes it. */
const FAULTS = {
  "a captive portal's page": [page(200), /answered 200 with text\/html, which is not application\/octet-stream/],
  'JSON instead of bytes': [
    (_request, response) => response.setHeader('content-type', 'application/json').end('{"name":"orders","ids":["1"]}'),
    /answered 200 with application\/json/,
  ],
  'no type': [(_request, response, n) => response.end(makeIds(n)), /answered 200 with no type/],
  'too few IDs': [bytes((n) => makeIds(n - 1)), /was asked for 100 IDs, which are 800 bytes, and sent 792 bytes/],
  'no IDs': [bytes(() => ''), /sent 0 bytes/],
  'too many IDs': [bytes((n) => makeIds(n + 1)), /sent more bytes than that/],
  'half an ID': [bytes((n) => makeIds(n).subarray(3)), /sent 797 bytes/],
  'a truncated answer': [half, /could not be reached \(.+\)/],
  'an endless answer': [endless, /sent more bytes than that/],
  'IDs that descend': [bytes(descending), /sent 100 IDs that do not ascend/],
  'one ID, repeated': [bytes((n) => Buffer.alloc(n * 8, 7)), /do not ascend/],
  'an ID twice': [
    bytes((n) => {
      const ids = makeIds(n)
      ids.copy(ids, 50 * 8, 49 * 8, 50 * 8)
      return ids
    }),
    /do not ascend/,
  ],
  'a 204': [(_request, response) => response.writeHead(204).end(), /answered 204/],
  'a 206': [
    (_request, response, n) => response.writeHead(206, { 'content-type': 'application/octet-stream' }).end(makeIds(n)),
    /answered 206/,
  ],
  'no HTTP': [(request) => request.socket.end('SSH-2.0-OpenSSH_9.2\r\n'), /could not be reached/],
  'a connection that breaks': [cut, /could not be reached/],
  'bad gzip': [
    (_request, response, n) =>
      response
        .writeHead(200, { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' })
        .end(gzipSync(makeIds(n)).fill(0, 12)),
    /could not be reached/,
  ],
  'a 500': [page(500), /answered 500$/],
  'a 502 of a proxy': [page(502), /answered 502$/],
  'a 504': [page(504), /answered 504$/],
  'a 404 of another server': [page(404), /answered 404$/],
  'a 403 of another server': [page(403), /answered 403$/],
  'a problem of another kind': [
    problem(400, { code: 'EOTHER', detail: 'Something else.' }),
    /answered 400: Something else$/,
  ],
  'a 429': [
    problem(429, { code: 'ERR_FLAKE_RATE', detail: 'Too many.' }),
    /answered 429 \(ERR_FLAKE_RATE\): Too many$/,
  ],
  'a 408': [problem(408, { code: 'ERR_FLAKE_TIMEOUT', detail: 'Too slow.' }), /answered 408/],
  'a 503 without a body': [(_request, response) => response.writeHead(503).end(), /answered 503$/],
  'a problem that is not JSON': [
    (_request, response) => response.writeHead(500, { 'content-type': 'application/problem+json' }).end('{'),
    /answered 500$/,
  ],
  'a problem that is null': [
    (_request, response) => response.writeHead(500, { 'content-type': 'application/problem+json' }).end('null'),
    /answered 500$/,
  ],
  'a problem of many lines': [problem(500, { detail: `a\nb\u0007${'c'.repeat(1000)}` }), /answered 500: a b c{282}…$/],
}

for (const [what, [script, reason]] of Object.entries(FAULTS)) {
  test(`${what}: the next server is asked, and keeps being asked`, async (t) => {
    const [bad, good] = await Promise.all([startScripted(t), startScripted(t)])
    const remote = await connectToFirst(t, [bad, good])
    bad.script = script
    const asked = good.counts.length
    const ids = idsIn(await remote.takeAsync(250))
    t.is(new Set(ids).size, 250)
    t.is(bad.counts.length, 2, 'the first answer, and the bad one')
    t.like(remote.stats, { requests: 3, retries: 1, server: good.url })
    t.is(good.counts.length, asked + 1)
    await remote.takeAsync(1000)
    t.is(bad.counts.length, 2)

    const error = await t.throwsAsync(connect(t, bad, { waitMs: 0 }), { instanceOf: Error, code: 'ERR_FLAKE_REMOTE' })
    t.is(error.failures.length, 1)
    t.is(error.failures[0].server, bad.url)
    t.regex(error.failures[0].reason, reason)
    t.true(error.message.includes(error.failures[0].reason))
    t.regex(error.message, /^The server returned no IDs of 'orders' within /)
  })
}

test('a redirect is not followed: the token is sent nowhere else', async (t) => {
  const [elsewhere, good] = await Promise.all([startScripted(t), startScripted(t)])
  const bad = await startScripted(t)
  for (const status of [301, 302, 303, 307, 308]) {
    bad.script = giveIds
    const remote = await connectToFirst(t, [bad, good], { token: 'a-token-that-is-secret' })
    bad.script = (request, response) =>
      response.writeHead(status, { location: new URL(request.url, elsewhere.url) }).end()
    await remote.takeAsync(250)
    t.is(remote.stats.server, good.url)
    const error = await t.throwsAsync(connect(t, bad, { waitMs: 0 }), { code: 'ERR_FLAKE_REMOTE' })
    t.regex(error.message, /answered with a redirect, which is not followed/)
  }
  t.deepEqual(elsewhere.counts, [])
})

test('unordered IDs are accepted where the server says that its layout spreads them, if they are all different', async (t) => {
  const server = await startScripted(t)
  const group = (make) => (request, response, n) => {
    response.setHeader('flakeforge-layout', 'uniqueid').setHeader('flakeforge-order', 'none')
    bytes(make)(request, response, n)
  }
  server.script = group(descending)
  const remote = await connect(t, server)
  const ids = idsIn(remote.take(100))
  t.true(ids[0] > ids[99])
  server.script = group((n) => Buffer.alloc(n * 8, 7))
  const error = await t.throwsAsync(connect(t, server, { waitMs: 0 }), { code: 'ERR_FLAKE_REMOTE' })
  t.regex(error.message, /sent 100 IDs that are not all different/)
})

test('an answer in pieces and in gzip is one answer', async (t) => {
  const server = await startScripted(t)
  server.script = (_request, response, n) => {
    response.writeHead(200, { 'content-type': 'Application/Octet-Stream; x=y', 'content-encoding': 'gzip' })
    const zipped = gzipSync(makeIds(n))
    response.write(zipped.subarray(0, 20))
    setImmediate(() => response.end(zipped.subarray(20)))
  }
  const remote = await connect(t, server)
  t.is(new Set(idsIn(await remote.takeAsync(5000))).size, 5000)
})

test('a token that a server sends back is never in an error, nor is a part of it where the text is truncated', async (t) => {
  const token = 'tok-SECRET-0123456789abcdef'
  const server = await startScripted(t)
  for (let before = 240; before < 330; before += 3) {
    for (const sent of [token, token.toUpperCase(), `http://u:${token}@h/?x=${token}`]) {
      server.script = problem(500, { detail: `${'x'.repeat(before)}${sent}` })
      const error = await t.throwsAsync(connect(t, server, { token, waitMs: 0 }), { code: 'ERR_FLAKE_REMOTE' })
      t.notRegex(`${error.stack}${JSON.stringify(error)}`, /tok-s/i)
    }
  }
})
