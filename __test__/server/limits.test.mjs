// Slow, broken and hostile clients do no harm to others. Each test looks at both: the answers of the client, and
// whether the others are served.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { arrived, asker, passingFolder, rawConnection } from '../support/service.mjs'

const LIMITS = { requestMs: 1000, waitMs: 3000, maxConnections: 40, maxHeaderBytes: 4096, keepAliveMs: 1500 }
const ONE = 'POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\n\r\n'
/** A layout with 16 IDs in 10 ms. */
const SLOW = { epoch: 1577836800000, tickMs: 10, fields: Object.entries({ timestamp: 40, node: 20, counter: 4 }) }

let server
let ask

test.before(async () => {
  const file = join(passingFolder(), 'limits.json')
  await writeFile(file, JSON.stringify({ ...LIMITS, names: { default: {}, slow: { layout: SLOW } } }))
  server = await startServer({ args: ['--config', file] })
  ask = await asker(server.url)
})

test.after.always(() => server?.stop())

async function isServed(t, path = '/v1/ids/default') {
  const { status, body } = await ask(t, 'POST', path)
  t.is(status, 200, `others are served: ${JSON.stringify(body)}`)
}

/** A connection that is closed when the test is over. */
function raw(t, text, options) {
  const connection = rawConnection(server.port, options)
  t.teardown(() => connection.socket.destroy())
  if (text !== undefined) connection.send(text)
  return connection
}

/** The IDs of all answers. */
const idsOf = (text) => [...text.matchAll(/"(\d{10,20})"/g)].map(([, id]) => BigInt(id))

test.serial('slowloris: endless headers are cut off with 408', async (t) => {
  const slow = Array.from({ length: 10 }, () => raw(t, 'POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\n'))
  const drip = setInterval(() => {
    for (const { socket, send } of slow) if (socket.writable) send('x-more: 1\r\n')
  }, 50)
  await isServed(t)
  await Promise.all(slow.map(({ closed }) => closed))
  clearInterval(drip)
  for (const { text } of slow) t.regex(text(), /^HTTP\/1\.1 408 .*application\/problem\+json.*ERR_FLAKE_TIMEOUT/s)
  await isServed(t)
})

test.serial('a body that never arrives is cut off too', async (t) => {
  const slow = raw(t, 'POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{')
  await slow.closed
  t.regex(slow.text(), /^HTTP\/1\.1 408 /)
  await isServed(t)
})

test.serial('a connection that sends nothing, and one that is silent after an answer, are closed', async (t) => {
  const [silent, kept] = [raw(t), raw(t, ONE)]
  await arrived(kept, /^HTTP\/1\.1 200 /)
  await Promise.all([silent.closed, kept.closed])
  await isServed(t)
})

const BROKEN = {
  'not HTTP': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  'a newline in a header': ['GET /livez HTTP/1.1\r\nHost: localhost\r\nA: b\rc\r\n\r\n', 400],
  'two lengths': [
    'POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n',
    400,
  ],
  'a length and chunks': [
    'POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  'a bad chunk': ['POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n', 400],
  'headers that are too long': [`GET /livez HTTP/1.1\r\nHost: localhost\r\nA: ${'a'.repeat(10_000)}\r\n\r\n`, 431],
  'a path that is too long': [`GET /${'a'.repeat(10_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
  'no host': ['POST /v1/ids/default HTTP/1.1\r\n\r\n', 400],
  'no host, where none is possible': ['GET /nothing HTTP/1.1\r\n\r\n', 400],
  'two hosts': ['POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n', 400],
  'an impossible host': ['POST /v1/ids/default HTTP/1.1\r\nHost: a@localhost\r\n\r\n', 400],
  'an expectation': ['POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\nExpect: miracles\r\n\r\n', 417],
  CONNECT: ['CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 405],
  'a nonce that is too short': [
    'POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nFlakeforge-Nonce: 1\r\n\r\n',
    400,
  ],
  'two nonces': [
    `POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${'Flakeforge-Nonce: 0123456789abcdef\r\n'.repeat(2)}\r\n`,
    400,
  ],
  'an unknown method': ['FROB /v1/ids/default HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
}

for (const [what, [text, status]] of Object.entries(BROKEN)) {
  test(`${what}: ${status}, and the connection ends`, async (t) => {
    const broken = raw(t, text)
    await broken.closed
    t.regex(broken.text(), new RegExp(`^HTTP/1\\.1 ${status} `))
    t.regex(broken.text(), /^x-content-type-options: nosniff\r$/im)
    t.regex(broken.text(), /application\/problem\+json.*\r\n\r\n\{.*"code":"ERR_FLAKE_[A-Z]+"\}$/s)
    await isServed(t)
  })
}

test.serial(
  'a client rejected for not speaking HTTP takes no place any more, even if it keeps its side open',
  async (t) => {
    for (let i = 0; i <= LIMITS.maxConnections; i++) {
      const broken = raw(t, 'FROB / HTTP/1.1\r\n\r\n', { allowHalfOpen: true })
      await broken.ended
      t.regex(broken.text(), /^HTTP\/1\.1 400 /)
    }
  },
)

test('clients that leave in the middle of a request or of an answer do no harm', async (t) => {
  for (const text of ['', 'POST', 'POST /v1/ids/default HTTP/1.1\r\n', ONE, ONE.replace(' HTTP', '?n=10000 HTTP')]) {
    const gone = raw(t)
    await gone.connected
    gone.send(text)
    gone.socket.resetAndDestroy()
  }
  await isServed(t)
})

test.serial(
  'a client that leaves in the middle of a body is not an error of the server, and is not logged',
  async (t) => {
    const gone = raw(t, 'POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab')
    gone.socket.end()
    await gone.closed
    await isServed(t) // once the server has noticed
    t.deepEqual(server.warnings, [])
  },
)

// Alone: Node.js closes such a connection at once where an answer has to wait for the next tick.
test.serial('a client that has finished sending and still listens gets its answer', async (t) => {
  const half = raw(t, ONE)
  half.socket.end()
  t.truthy(await arrived(half, /^HTTP\/1\.1 200 .*"ids"/s))
})

test('pipelined requests are answered in order', async (t) => {
  const many = raw(t, `${ONE.repeat(50)}GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  await many.closed
  const ids = idsOf(many.text())
  t.is(ids.length, 50)
  t.true(ids.every((id, i) => i === 0 || id > ids[i - 1]))
  t.regex(many.text(), /"status":"ok"/)
})

test.serial(
  'a client that requests many at once is served in turns: others need not wait until it has all',
  async (t) => {
    const greedy = raw(t, ONE.replace('default HTTP', 'slow?n=32 HTTP').repeat(400)) // 8 s of IDs
    await arrived(greedy, /^HTTP\/1\.1 200 /)
    await isServed(t, '/v1/ids/slow?n=32')
    t.true(greedy.text().split('HTTP/1.1').length < 100)
    greedy.socket.destroy()
  },
)

test.serial(
  'a request that need not wait is not served before an earlier one of its connection that does',
  async (t) => {
    const one = raw(t)
    for (let i = 0; i < 200; i++) {
      one.send(i % 20 === 0 ? ONE.replace(' HTTP', '?n=3000 HTTP') : ONE)
      await new Promise(setImmediate)
    }
    one.send('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    await one.closed
    const ids = idsOf(one.text())
    t.is(ids.length, 30_190)
    t.true(ids.every((id, i) => i === 0 || id > ids[i - 1]))
  },
)

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('a client that requests a lot and reads nothing is cut off', async (t) => {
  const greedy = raw(t)
  await greedy.connected
  greedy.socket.pause()
  greedy.send(ONE.replace(' HTTP', '?n=10000 HTTP').repeat(200)) // 40 MB of answers
  t.true(isEstablished(greedy.socket.localPort))
  while (isEstablished(greedy.socket.localPort)) await isServed(t)
})

const ESTABLISHED = '01'

/**
 * Whether the server's end of a connection is open, according to the kernel. A client that does not read notices no
 * end.
 */
function isEstablished(port) {
  const hex = (number) => number.toString(16).toUpperCase().padStart(4, '0')
  const lines = readFileSync('/proc/net/tcp', 'latin1').split('\n')
  const line = lines.find((each) => each.includes(`:${hex(server.port)} 0100007F:${hex(port)} `))
  return line?.trim().split(/\s+/)[3] === ESTABLISHED
}

test.serial('connections beyond the limit are closed at once, and the others continue', async (t) => {
  const kept = raw(t)
  await kept.connected
  const many = Array.from({ length: 60 }, () => raw(t))
  const isClosed = many.map(({ closed }) => closed)
  await Promise.any(isClosed)
  kept.send(ONE)
  await arrived(kept, /^HTTP\/1\.1 200 /)
  for (const { socket } of many) socket.destroy()
  await Promise.all(isClosed)
  for (;;) {
    try {
      await isServed(t) // once the server has noticed that they are gone
      return
    } catch (error) {
      if (error.cause === undefined) throw error
    }
  }
})

test.serial('an overloaded server refuses IDs, says so at /readyz, and recovers', async (t) => {
  const file = join(passingFolder(), 'overload.json')
  await writeFile(file, JSON.stringify({ names: { default: { layout: 'snowcast', nodes: 128 } }, maxDelayMs: 5 }))
  const busy = await startServer({ args: ['--config', file] })
  t.teardown(() => busy.stop())
  const askBusy = await asker(busy.url)
  let isLoaded = true
  const load = Array.from({ length: 8 }, async () => {
    while (isLoaded)
      await fetch(`${busy.url}/v1/ids/default?n=10000`, { method: 'POST' }).then((it) => it.arrayBuffer())
  })
  const refused = async (method, path) => {
    for (;;) {
      const { status, body } = await askBusy(t, method, path)
      if (status !== 200) return [status, body.code, /overloaded/.test(body.detail)]
    }
  }
  t.deepEqual(await refused('POST', '/v1/ids/default'), [503, 'ERR_FLAKE_BUSY', true])
  t.deepEqual(await refused('GET', '/readyz'), [503, 'ERR_FLAKE_BUSY', true])
  t.is((await fetch(`${busy.url}/v1/names`)).status, 200, 'other routes are served')
  isLoaded = false
  await Promise.all(load)
  while ((await fetch(`${busy.url}/v1/ids/default`, { method: 'POST' })).status !== 200);
  t.pass()
})
