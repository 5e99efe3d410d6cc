// A clean end: no client sees a reset. Answers after SIGTERM say `Connection: close`, and a connection that is kept
// alive gets an answer to the request that its client is about to send.

import http from 'node:http'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { isWindows } from '../support/processes.mjs'
import { arrived, rawConnection } from '../support/service.mjs'
import { until } from '../support/waits.mjs'

const test = isWindows ? anyTest.skip : anyTest // it has no SIGTERM

const ONE = 'POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** The result of a request of this agent: its status, or the code of its error. */
const outcome = (port, agent) =>
  new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', method: 'POST', path: '/v1/ids/default?n=500', agent }
    const request = http.request(options, async (response) => {
      try {
        await response.toArray()
        resolve(response.statusCode)
      } catch (error) {
        resolve(error.code)
      }
    })
    request.once('error', (error) => resolve(error.code)).end()
  })

/** The results of 50 busy clients until a connection is refused, if the server is stopped meanwhile. */
async function seenAtTheEnd(t, args) {
  const server = await startServer({ args })
  const agent = new http.Agent({ keepAlive: true, maxSockets: 50 })
  const seen = new Set()
  let answers = 0
  const client = async () => {
    for (;;) {
      const what = await outcome(server.port, agent)
      seen.add(what)
      if (what === 'ECONNREFUSED') return
      if (++answers === 500) server.child.kill('SIGTERM')
    }
  }
  await Promise.all(Array.from({ length: 50 }, client))
  t.deepEqual(await server.exit, [0, null])
  await server.stop()
  agent.destroy()
  seen.delete(503)
  return [...seen].sort()
}

for (const args of [[], ['--drain-ms', '300']]) {
  test.serial(
    `50 busy clients, ${args.join(' ')}: each gets complete answers until a connection is refused`,
    async (t) => {
      const expected = [200, 'ECONNREFUSED']
      let seen
      // A busy machine may keep a client from sending its request for longer than the server lingers.
      for (let tries = 0; tries < 3 && String(seen) !== String(expected); tries++) seen = await seenAtTheEnd(t, args)
      t.deepEqual(seen, expected)
    },
  )
}

/**
 * Whether a connection that was idle at SIGTERM was used soon enough after it, and then got one more answer, its last.
 */
async function getsLastAnswer(t) {
  const server = await startServer()
  const raws = [rawConnection(server.port), rawConnection(server.port)]
  raws[0].send(ONE)
  await Promise.all([arrived(raws[0], /^HTTP\/1\.1 200 .*\}$/s), raws[1].connected])
  server.child.kill('SIGTERM')
  await until(async () => (await outcome(server.port)) === 'ECONNREFUSED')
  const isInTime = raws.every(({ socket }) => socket.readyState === 'open')
  for (const raw of isInTime ? raws : []) {
    raw.send(ONE)
    await arrived(raw, /HTTP\/1\.1 503 .*\r\nconnection: close\r\n.*ERR_FLAKE_ENDING/is)
  }
  await Promise.all(raws.map(({ closed }) => closed))
  t.deepEqual(await server.exit, [0, null])
  await server.stop()
  return isInTime
}

test.serial('a connection that is idle at SIGTERM, or has sent nothing, gets one more answer, its last', async (t) => {
  // A busy machine may take longer than a second to get there.
  for (let tries = 1; !(await getsLastAnswer(t)); tries++) t.true(tries < 20)
})

test.serial('while it drains, it gives IDs, and each answer is the last of its connection', async (t) => {
  const server = await startServer({ args: ['--drain-ms', '3600000'] })
  const [early, late] = [rawConnection(server.port), rawConnection(server.port)]
  early.send(ONE)
  await arrived(early, /^HTTP\/1\.1 200 .*\}$/s)
  t.notRegex(early.text(), /connection: close/i)
  server.child.kill('SIGTERM')
  await until(async () => (await fetch(`${server.url}/readyz`)).status !== 200)
  for (const raw of [early, late]) {
    raw.send(ONE)
    await raw.closed
    t.regex(raw.text(), /HTTP\/1\.1 200 [^{]*connection: close[^{]*\{[^{]*"ids"[^{]*\}$/i)
  }
  await server.stop()
})

test.serial('an unused connection delays the end for a second, and no longer than --end-ms', async (t) => {
  const server = await startServer({ args: ['--end-ms', '100'] })
  const kept = rawConnection(server.port)
  kept.send(ONE)
  await arrived(kept, /^HTTP\/1\.1 200 .*\}$/s)
  t.deepEqual(await server.kill('SIGTERM'), [0, null])
  await kept.closed
  await server.stop()
})
