// A server whose clock is set back: clients learn at once when there will be IDs again, and the log has one line at the
// start and one at the end. Only the clock of the server's process changes.

import { createRequire } from 'node:module'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { stopAfter } from '../servers/server.mjs'
import { asker } from '../support/service.mjs'

const { Clock, NEEDS, canSetClocks } = createRequire(import.meta.url)('../../lab/chaos/faults/clock.js')
const test = canSetClocks ? anyTest : anyTest.skip
if (!canSetClocks && process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') throw new Error(`clocks need ${NEEDS}`)
if (!canSetClocks) console.warn(`\n!!! SKIPPED: no clock is set: that needs ${NEEDS} !!!\n`)

const HOUR_MS = 3_600_000
const WAIT_MS = 60_000 // far more than the test takes: a useless wait shows

async function startWithClock(t) {
  const clock = new Clock()
  const args = ['--wait-ms', String(WAIT_MS), '--name', 'a', '--name', 'idle']
  const server = stopAfter(t, await startServer({ args, env: clock.environment }))
  return { server, ask: await asker(server.url), clock }
}

test('an hour back: 503 at once, with the time until there are IDs', async (t) => {
  const { server, ask, clock } = await startWithClock(t)
  t.is((await ask(t, 'POST', '/v1/ids/a')).status, 200)
  t.is((await ask(t, 'POST', '/v1/ids/idle')).status, 200)
  const begun = performance.now()
  clock.set(-HOUR_MS)
  for (const path of ['/v1/ids/a', '/v1/ids/a?n=10000']) {
    const { status, body, headers } = await ask(t, 'POST', path)
    t.deepEqual([status, body.code], [503, 'ERR_FLAKE_CLOCK_BACKWARDS'], path)
    const afterMs = Number(headers.get('retry-after')) * 1000
    t.true(afterMs > HOUR_MS / 2 && afterMs <= HOUR_MS, `Retry-After: ${afterMs} ms`)
    t.true(body.retryAfterMs > HOUR_MS / 2 && body.retryAfterMs <= HOUR_MS)
  }
  t.is((await ask(t, 'GET', '/readyz')).status, 503)
  await server.told(/Group 'a': The clock is .* behind the last ID/)
  await server.told(/Group 'idle': The clock is .* behind the last ID/) // though its IDs are not requested
  clock.set(0)
  await server.told(/Group 'a': generates IDs again/)
  await server.told(/Group 'idle': generates IDs again/)
  t.is(server.warnings.length, 4, server.warnings.join('\n'))
  t.is((await ask(t, 'POST', '/v1/ids/a?n=10000')).status, 200)
  t.true(performance.now() - begun < WAIT_MS)
})

test('a brief step back is waited out, without an outage', async (t) => {
  const { server, ask, clock } = await startWithClock(t)
  t.is((await ask(t, 'POST', '/v1/ids/a')).status, 200)
  clock.set(-2000)
  t.is((await ask(t, 'POST', '/v1/ids/a')).status, 200)
  t.is((await ask(t, 'GET', '/readyz')).status, 200)
  t.deepEqual(server.warnings, [])
})
