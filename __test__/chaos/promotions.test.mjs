// The runs in which a replica is promoted while its primary goes on: a tool that copies a Redis counts as its replica, a
// run starts and ends what it needs, and each target has a run that must succeed and a control that must not.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'

const require = createRequire(import.meta.url)
const { CopyingTool } = require('../../lab/chaos/faults/copying-tool.js')
const { PLACES, promotions } = require('../../lab/chaos/scenarios/promotions.js')
const { makeMembers } = require('../../lab/chaos/scenarios/tasks.js')
const { run } = require('../../lab/chaos/run/run.js')

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-promotions-'))
test.after.always(() => fs.rmSync(folder, { recursive: true }))

const ifRedis = wantRedis() === undefined ? test.skip : test

ifRedis('a tool that copies a Redis counts as a replica and acknowledges writes', async (t) => {
  const server = stopAfter(t, await startRedis('--min-replicas-to-write', '1', '--repl-diskless-sync', 'no'))
  t.regex(await server.cli('SET', 'key', 'value'), /^NOREPLICAS/)
  const tool = new CopyingTool({ host: '127.0.0.1', port: server.port })
  t.teardown(() => tool.stop())
  await until(async () => (await server.cli('INFO', 'replication')).includes('min_slaves_good_slaves:1'))
  t.is(await server.cli('SET', 'key', 'value'), 'OK')
  await until(async () => {
    const info = await server.cli('INFO', 'replication')
    const [at, acknowledged] = [/^master_repl_offset:(\d+)/m, /^slave0:.*offset=(\d+)/m].map(
      (each) => each.exec(info)[1],
    )
    return Number(at) > 0 && at === acknowledged
  })
})

test('a run starts what it needs, and ends it even if it fails', async (t) => {
  const events = []
  const start = async () => {
    events.push('start')
    return {
      members: makeMembers(1, () => ({ options: { id: 3 } })),
      end: async () => events.push('end'),
      outages: async () => events.push('outage'),
    }
  }
  const isEnough = ({ members }) => members.some(({ made }) => made > 0)
  const about = { folder, seconds: 0.1 }
  const outcome = await run({ name: 'test', faults: [], isEnough, start }, about)
  t.true(outcome.ids > 0)
  t.deepEqual(events, ['start', 'outage', 'end'])
  const failing = async () => ({ ...(await start()), outages: () => Promise.reject(new Error('no promotion')) })
  const failed = await run({ name: 'test', faults: [], isEnough, start: failing }, about)
  t.deepEqual(failed.troubles, [{ who: 'the server', what: 'no promotion' }])
  t.deepEqual(events.slice(3), ['start', 'end'])
})

test('each target has a run, a control, and as many rounds as there is time for', async (t) => {
  for (const name of PLACES) {
    const { scenarios, control, missing } = await promotions(name).prepare({ seconds: 180 })
    if (missing.length > 0) {
      t.deepEqual([scenarios.length, control], [0, undefined])
      continue
    }
    t.is(scenarios.length, 3)
    t.true(scenarios[0].name.startsWith(`${name}, `))
    t.true(control.name.startsWith(`control: ${name}, `))
  }
})
