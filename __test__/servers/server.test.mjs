// Servers of tests end with the process that started them, even if that is killed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import anyTest from 'ava'
import { wantEtcd } from './etcd.mjs'
import { wantMysql } from './mysql.mjs'
import { wantPostgres } from './postgres.mjs'
import { wantRedis } from './redis.mjs'
import { findProgram, until } from './server.mjs'

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
