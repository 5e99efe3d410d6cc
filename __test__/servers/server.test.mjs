// Servers of tests end with the process that started them, even if that is killed. Waits for them end with a
// reason.

import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import anyTest from 'ava'
import { until as untilListed } from '../support/index.mjs'
import { once } from '../support/waits.mjs'
import { wantEtcd } from './etcd.mjs'
import { startServer } from './flakeforge.mjs'
import { wantMysql } from './mysql.mjs'
import { wantPostgres } from './postgres.mjs'
import { wantRedis } from './redis.mjs'
import { findProgram, stopAfter, until } from './server.mjs'

const SERVERS = {
  redis: { want: wantRedis, start: 'startRedis' },
  postgres: { want: wantPostgres, start: 'startPostgres' },
  mysql: { want: wantMysql, start: 'startMysql' },
  etcd: { want: wantEtcd, start: 'startEtcd' },
}

/** Whether a process exists and has not ended. */
function runs(pid) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const [name, { want, start }] of Object.entries(SERVERS)) {
  const test = want() === undefined || findProgram('setpriv') === undefined ? anyTest.skip : anyTest
  test(`${name} ends when the process that started it is killed`, async (t) => {
    const module = JSON.stringify(new URL(`${name}.mjs`, import.meta.url).href)
    const source = `
      const { pid, folder } = await (await import(${module})).${start}()
      console.log(JSON.stringify({ pid, folder }))`
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(createInterface({ input: parent.stdout }), 'line')
    const { pid, folder } = JSON.parse(line)
    t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 })) // which only its process would remove
    t.true(runs(pid))
    parent.kill('SIGKILL')
    await until(() => !runs(pid))
  })
}

anyTest('a line of the log that does not come: the error has the lines that did', async (t) => {
  const server = stopAfter(t, await startServer({ args: ['--log', 'requests'] }))
  await fetch(`${server.url}/v1/names`)
  const line = await server.told(/GET \/v1\/names/)
  const late = await t.throwsAsync(server.told(/no such line/, 0, { limitMs: 50 }))
  t.true(late.message.startsWith('not within 0.05 s: no line matches /no such line/. The server told:\n'))
  t.true(late.message.includes(line))
  const never = server.told(/no such line/)
  await server.kill()
  const ended = await t.throwsAsync(never)
  t.true(ended.message.startsWith('The server ended: no line matches /no such line/'))
  t.true(ended.message.includes(line))
})

anyTest('what does not become true: the error says what it was', async (t) => {
  await t.throwsAsync(
    until(() => 1 > 2, { limitMs: 50 }),
    { message: 'not within 0.05 s: () => 1 > 2' },
  )
  await t.notThrowsAsync(until(async () => true, { limitMs: 0 }))
  const list = [1]
  setTimeout(() => list.push(2), 5)
  await untilListed(list, 2)
})
