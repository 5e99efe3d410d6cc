// Chaos with flakeforge-servers, the parts of `npm run chaos -- service`. A failed server returns on its port, and an
// unrequested exit is noticed; unordered IDs can be checked; servers without a common store produce duplicates, and
// these are found.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import { until } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { check } = require('../../lab/chaos/outcome/check.js')
const faults = require('../../lab/chaos/faults/member-faults.js')
const { Batch, CALLS } = require('../../lab/chaos/member/calls.js')
const { RunFile } = require('../../lab/chaos/member/run-file.js')
const { judge, judgeControl } = require('../../lab/chaos/outcome/judge.js')
const { run } = require('../../lab/chaos/run/run.js')
const { clients, startApart, startMixed } = require('../../lab/chaos/scenarios/service.js')

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-chaos-service-'))
test.after.always(() => fs.rmSync(folder, { recursive: true }))

test('servers without a common store produce duplicates, and fail on request', async (t) => {
  const troubles = []
  const { services, control } = await startApart(folder, troubles)
  t.teardown(() => Promise.all(services.map((service) => service.kill())))
  const outcome = await run(control, { folder, seconds: 0.1 })
  t.true(outcome.duplicates > 0)
  t.deepEqual(judgeControl(outcome), [])

  const [service] = services
  const { port } = service
  const isAlive = async () => (await fetch(`http://127.0.0.1:${port}/livez`)).ok
  const [kill] = faults.service
  await kill.strike(service)
  await until(() => isAlive().catch(() => false))
  t.is(service.port, port)
  t.is(service.lives, 2)
  t.deepEqual(troubles, [])
  await services[1].end()
  t.deepEqual(troubles, [], 'SIGTERM ends it properly')

  process.kill(service.pid, 'SIGKILL')
  await service.over
  t.regex(troubles[0].what, /^ended with /)
  t.is(troubles[0].who, 'first server apart, life 2')
})

for (const [name, layout] of [
  ['two stores', 'sonyflake'],
  ['two layouts', 'flake'],
]) {
  test(`${name}: a client of both never gets IDs of the other`, async (t) => {
    const troubles = []
    const narrow = { slots: 1, layout: 'sonyflake' }
    const { services, scenario } = await startMixed(name, folder, [narrow, { ...narrow, layout }], troubles)
    t.teardown(() => Promise.all(services.map((service) => service.kill())))
    const outcome = await run(scenario, { folder, seconds: 1 })
    t.deepEqual(judge(outcome), [])
    t.true(outcome.counts.kills >= 4)
    t.deepEqual(troubles, [])
  })
}

test('IDs of several servers are unordered, and only duplicates count', (t) => {
  const file = path.join(folder, 'unordered')
  const bytes = Buffer.alloc(4 * 8)
  for (const [i, id] of [5n, 3n, 4n, 3n].entries()) bytes.writeBigUInt64BE(id, i * 8)
  new RunFile(file).add(bytes)
  t.like(check([[file]], { isInOrder: false }), { ids: 4, duplicates: 1, disorders: 0 })
  t.like(check([[file]]), { duplicates: 1, disorders: 2 })
})

test('three clients use only servers, and two also have a store; each uses a different call', (t) => {
  const tasks = clients(['http://a', 'http://b'], ['redis://one', 'redis://two']).flat()
  t.deepEqual(
    tasks.map(({ policy, join }) => [policy, [join].flat().length]),
    [...Array(3).fill(['remote', 2]), ...Array(2).fill([undefined, 1])],
  )
  t.is(new Set(tasks.map(({ call }) => call)).size, 5)
  for (const { options } of tasks.slice(3)) t.deepEqual(options.elseFrom.urls, ['http://a', 'http://b'])
})

test('a batch accepts IDs that are not Buffers', async (t) => {
  let last = 0
  const remote = { next: (callback) => setImmediate(callback, null, Uint8Array.of(0, 0, 0, 0, 0, 0, 1, last++)) }
  const batch = new Batch()
  await CALLS.nextCallback(remote, batch)
  t.true(batch.isFull)
  t.is(batch.drain().readBigUInt64BE(8), 257n)
})
