// docs/run/serverless.md is correct: its handler runs in processes that are frozen as platforms freeze them, for longer
// than the window lasts, and generates no ID twice; and its command creates the group that the handler joins.

import { execFile, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { blocksOf, installed, program, root } from '../support/guides.mjs'
import { stopProcess } from '../support/stop-process.mjs'
import { once } from '../support/waits.mjs'

const { createGroup, FlakeId } = createRequire(import.meta.url)('flakeforge')

const test = wantRedis() === undefined || process.platform === 'win32' ? anyTest.skip : anyTest
const [handler] = blocksOf('run/serverless.md', 'javascript')
const TIMES = 'ttlMs: 10_000, skewMs: 2_000'
const SHORT = { ttlMs: 2000, skewMs: 500, slots: 2 } // to keep the test short

async function started(t) {
  const server = await startRedis()
  t.teardown(() => server.stop())
  return server
}

/** Runs the handler for each line of its input; prints the ID and the slot's node number. */
async function instanceOf(t, url, times) {
  const folder = await installed(t)
  t.true(handler.includes(TIMES), 'the guide says so')
  await program(folder, 'handler.mjs', handler.replace(TIMES, times))
  const main = await program(
    folder,
    'main.mjs',
    `import { createInterface } from 'node:readline'
     import { handler } from './handler.mjs'
     for await (const _line of createInterface(process.stdin)) console.log(JSON.parse((await handler({})).body).id)`,
  )
  const child = spawn(process.execPath, [...process.execArgv, main], { env: { ...process.env, FLAKEFORGE_STORE: url } })
  t.teardown(() => child.kill('SIGKILL'))
  child.stderr.pipe(process.stderr)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    child,
    async request() {
      child.stdin.write('\n')
      return BigInt((await lines.next()).value)
    },
  }
}

const nodeOf = (id) => Number((id >> 12n) & 1023n)
const short = Object.entries(SHORT)
  .map(([name, value]) => `${name}: ${value}`)
  .join(', ')

test('an instance that was frozen past its window resumes with another slot, and repeats no ID', async (t) => {
  const { url } = await started(t)
  await createGroup(url, { group: 'functions', ...SHORT })
  const frozen = await instanceOf(t, url, short)
  const ids = [await frozen.request(), await frozen.request()]
  const [slot] = ids.map(nodeOf)
  t.deepEqual(ids.map(nodeOf), [slot, slot])

  await stopProcess(frozen.child.pid)
  const join = (host) => FlakeId.join(url, { group: 'functions', ...SHORT, host })
  const other = await join('other') // the free slot
  t.is(other.slot, 1 - slot)
  const taker = await join('taker') // waits until the window of the frozen instance has ended
  t.is(taker.slot, slot)
  ids.push(...taker.takeBigInts(1000))
  await other.close()

  frozen.child.kill('SIGCONT')
  const later = await frozen.request()
  t.is(nodeOf(later), 1 - slot)
  ids.push(later, await frozen.request(), ...taker.takeBigInts(1000))
  t.is(new Set(ids).size, ids.length)
  await taker.close()
})

test('an instance that resumes after its window with its slot still free generates IDs again', async (t) => {
  const { url } = await started(t)
  await createGroup(url, { group: 'functions', ...SHORT })
  const frozen = await instanceOf(t, url, short)
  const first = await frozen.request()
  await stopProcess(frozen.child.pid)
  await sleep(SHORT.ttlMs + SHORT.skewMs) // real time has to pass here
  frozen.child.kill('SIGCONT')
  const second = await frozen.request()
  t.true(second > first)
})

test('the command creates the group that the handler joins, so the handler does not wait', async (t) => {
  const { url } = await started(t)
  const command = blocksOf('run/serverless.md', 'sh').find((text) => text.includes('flakeforge create'))
  const [, , ...args] = command.trim().replace('redis://localhost', url).split(' ')
  await promisify(execFile)(process.execPath, [join(root, 'dist', 'flakeforge.cjs'), ...args])
  const instance = await instanceOf(t, url, TIMES)
  t.true(nodeOf(await instance.request()) < 1024)
  instance.child.kill('SIGKILL')
  await once(instance.child, 'exit')
})
