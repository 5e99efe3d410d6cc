// The only place that sends HTTP: who may answer, how long it may take, and how much of an answer is read. Real servers of
// Node on loopback.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import test from 'ava'
import { once } from '../support/waits.mjs'

const { exchange } = createRequire(import.meta.url)('../../target/rooms/lib/base/exchange.js')

const MIB = 2 ** 20

async function serve(t, answer) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${server.address().port}/`
}

const ask = (url, most, other = {}) =>
  exchange({ fetch, url, method: 'POST', headers: {}, body: 'secret', timeoutMs: 20_000, ...other }, async (answer) => {
    const bytes = await answer.read(most)
    return { status: answer.status, size: bytes.length, text: Buffer.from(bytes).toString('latin1').slice(0, 20) }
  })

/** Spaces without end. Counts what it wrote. */
function endless(through = (response) => response) {
  const sent = { bytes: 0 }
  const part = Buffer.alloc(MIB, 32)
  const answer = (request, response) => {
    request.resume()
    const to = through(response)
    const write = () => {
      let isFree = true
      while (isFree && !response.destroyed) {
        isFree = to.write(part)
        sent.bytes += part.length
      }
    }
    to.on('drain', write).on('error', () => {})
    response.on('close', () => to.destroy())
    write()
  }
  return { sent, answer }
}

test('an answer up to the bound is read in full, and an empty one too', async (t) => {
  const url = await serve(t, (request, response) => response.end(request.url === '/none' ? '' : 'x'.repeat(100)))
  t.like(await ask(url, 100), { status: 200, size: 100 })
  t.like(await ask(`${url}none`, 100), { status: 200, size: 0 })
})

test('of an answer beyond the bound one byte more is kept, whatever its status, and the connection ends', async (t) => {
  for (const status of [200, 401, 500]) {
    const { sent, answer } = endless()
    let closed
    const url = await serve(t, (request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      closed = once(response, 'close')
      answer(request, response)
    })
    t.like(await ask(url, MIB), { status, size: MIB + 1 })
    await closed
    t.true(sent.bytes < 64 * MIB, `${sent.bytes} bytes were sent`)
  }
})

test('the bound counts what a compressed answer expands to', async (t) => {
  const { answer } = endless((response) => {
    response.setHeader('content-encoding', 'gzip')
    const gzip = createGzip()
    gzip.pipe(response)
    return gzip
  })
  const before = process.memoryUsage().rss
  t.like(await ask(await serve(t, answer), 8 * MIB), { size: 8 * MIB + 1 })
  t.true(process.memoryUsage().rss - before < 300 * MIB)
})

test('a redirect is not followed, and nothing reaches the other server', async (t) => {
  const got = []
  const elsewhere = await serve(t, (request, response) => {
    got.push(request.method)
    response.end('{}')
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const url = await serve(t, (_, response) => response.writeHead(status, { location: elsewhere }).end())
    await t.throwsAsync(ask(url, 100), { message: /redirect/ })
  }
  t.deepEqual(got, [])
  // A fetch that follows them all the same: the answer does not count.
  const url = await serve(t, (_, response) => response.writeHead(307, { location: elsewhere }).end())
  const eager = (to, init) => fetch(to, { ...init, redirect: 'follow' })
  await t.throwsAsync(ask(url, 100, { fetch: eager }), { message: /redirect/ })
})

test('the time limit and the signal count, also with a fetch that ignores them', async (t) => {
  const silent = await serve(t, (request) => request.resume())
  const halves = await serve(t, (_, response) => response.write('half'))
  const deaf = () => new Promise(() => {})
  for (const [url, other] of [
    [silent, {}],
    [halves, {}],
    [silent, { fetch: deaf }],
    [halves, { fetch: (to, { signal, ...init }) => fetch(to, init) }],
  ]) {
    await t.throwsAsync(ask(url, 100, { ...other, timeoutMs: 50 }), { message: 'no answer within 50 ms' })
    const controller = new AbortController()
    const asked = ask(url, 100, { ...other, signal: controller.signal })
    controller.abort(new Error('enough'))
    await t.throwsAsync(asked, { message: 'enough' })
    await t.throwsAsync(ask(url, 100, { ...other, signal: controller.signal }), { message: 'enough' })
  }
})

test("a fetch whose bodies are Node's streams, or no streams, is read up to the bound too", async (t) => {
  const { sent, answer } = endless()
  const url = await serve(t, answer)
  const ofNode = async (...args) => {
    const { status, headers, body } = await fetch(...args)
    return { status, headers, body: Readable.fromWeb(body) }
  }
  t.like(await ask(url, MIB, { fetch: ofNode }), { size: MIB + 1 })
  t.true(sent.bytes < 64 * MIB)
  const whole = async () => ({ status: 200, headers: new Headers(), arrayBuffer: async () => new ArrayBuffer(300) })
  t.like(await ask(url, 100, { fetch: whole }), { size: 101 })
})
