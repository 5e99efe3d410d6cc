// A server whose clock is set back: who asks is told at once when there will be IDs again, and the log has one line when it
// begins and one when it ends. The clock is that of the server's process alone.

import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { stopAfter } from '../servers/server.mjs'
import { asker, passingFolder } from '../support/service.mjs'

const { library } = createRequire(import.meta.url)('../../lab/chaos/faults/clock.js')
const test = library === undefined ? anyTest.skip : anyTest
if (library === undefined && process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') throw new Error('libfaketime is missing')
if (library === undefined) console.warn('\n!!! SKIPPED: libfaketime is not installed (Debian: faketime) !!!\n')

const HOUR_S = 3600
const WAIT_MS = 60_000 // far more than the test takes: who waits in vain shows

async function startWithClock(t) {
  const file = join(passingFolder(), 'time')
  const set = (offset) => writeFile(file, offset)
  await set('+0')
  const env = {
    ...{ LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1' },
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  const server = stopAfter(
    t,
    await startServer({ args: ['--wait-ms', String(WAIT_MS), '--name', 'a', '--name', 'idle'], env }),
  )
  return { server, ask: await asker(server.url), set }
}

test('an hour back: 503 at once, with the time until there are IDs', async (t) => {
  const { server, ask, set } = await startWithClock(t)
  t.is((await ask(t, 'POST', '/v1/ids/a')).status, 200)
  t.is((await ask(t, 'POST', '/v1/ids/idle')).status, 200)
  const begun = performance.now()
  await set(`-${HOUR_S}`)
  for (const path of ['/v1/ids/a', '/v1/ids/a?n=10000']) {
    const { status, body, headers } = await ask(t, 'POST', path)
    t.deepEqual([status, body.code], [503, 'ERR_FLAKE_CLOCK_BACKWARDS'], path)
    const seconds = Number(headers.get('retry-after'))
    t.true(seconds > HOUR_S / 2 && seconds <= HOUR_S, `Retry-After: ${seconds}`)
    t.true(body.retryAfterMs > (HOUR_S / 2) * 1000 && body.retryAfterMs <= HOUR_S * 1000)
  }
  t.is((await ask(t, 'GET', '/readyz')).status, 503)
  await server.told(/Group 'a': The clock is .* behind the last ID/)
  await server.told(/Group 'idle': The clock is .* behind the last ID/) // though nobody asks for its IDs
  await set('+0')
  await server.told(/Group 'a': makes IDs again/)
  await server.told(/Group 'idle': makes IDs again/)
  t.is(server.warnings.length, 4, server.warnings.join('\n'))
  t.is((await ask(t, 'POST', '/v1/ids/a?n=10000')).status, 200)
  t.true(performance.now() - begun < WAIT_MS)
})

test('a moment back is waited for, and no outage', async (t) => {
  const { server, ask, set } = await startWithClock(t)
  t.is((await ask(t, 'POST', '/v1/ids/a')).status, 200)
  await set('-2')
  t.is((await ask(t, 'POST', '/v1/ids/a')).status, 200)
  t.is((await ask(t, 'GET', '/readyz')).status, 200)
  t.deepEqual(server.warnings, [])
})
