// Settings that look like a node number but have no effect cause a warning: misspelt variables, those of another
// layout, and a cluster worker without a number.

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { outputOf } from '../support/index.mjs'
import { diskFolder } from '../support/processes.mjs'

const INDEX = JSON.stringify(path.join(import.meta.dirname, '..', '..', 'dist', 'index.cjs'))

/** The JSON output of a program with these variables and no others of ours. */
async function jsonOf(t, variables, source) {
  const file = path.join(diskFolder(t), 'program.cjs')
  fs.writeFileSync(file, source)
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FLAKEFORGE_')))
  const options = { env: { ...env, ...variables }, timeout: 60_000 }
  const { code, stdout, stderr } = await outputOf(spawn(process.execPath, ['--no-warnings', file], options))
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return JSON.parse(stdout)
}

/** Runs `source`, and passes its warnings to `tell` as `[code, message]`. */
const watched = (source, tell) => `
  const FlakeId = require(${INDEX})
  const warnings = []
  process.on('warning', ({ code, message }) => warnings.push([code, message]))
  async function main() { ${source} }
  main().then(() => setImmediate(() => { ${tell} }))`

/** The warnings of a program. */
const warningsOf = (t, variables, source) =>
  jsonOf(t, variables, watched(source, 'console.log(JSON.stringify(warnings))'))

const MAKE = 'new FlakeId(); new FlakeId({ layout: "twitter" })'

/** The warnings about variables, as `{ variable: hint }`. */
async function hintsOf(t, variables, source = MAKE) {
  const warnings = await warningsOf(t, variables, source)
  return Object.fromEntries(
    warnings.map(([code, message]) => {
      t.is(code, 'FLAKEFORGE_VARIABLE')
      return /^(\w+) is ignored\. (.*)$/.exec(message).slice(1)
    }),
  )
}

test('a misspelt variable causes one warning per process, with the intended name', async (t) => {
  const all = 'The variables here are FLAKEFORGE_ID, FLAKEFORGE_DATACENTER, FLAKEFORGE_WORKER, FLAKEFORGE_STORE.'
  t.deepEqual(await hintsOf(t, { FLAKEFORGE_WORKER_ID: '3', FLAKEFORGE_NODE_ID: '3', FLAKEFORGE_STOER: 'x' }), {
    FLAKEFORGE_WORKER_ID: 'Did you mean FLAKEFORGE_WORKER?',
    FLAKEFORGE_NODE_ID: all,
    FLAKEFORGE_STOER: 'Did you mean FLAKEFORGE_STORE?',
  })
  t.deepEqual(await hintsOf(t, { FLAKEFORGE_HOST: 'web-1' }, 'new FlakeId()'), { FLAKEFORGE_HOST: all })
})

test('so does a misspelt FLAKEFORGE_STORE, where join() uses the default store', async (t) => {
  const source = 'await FlakeId.join().then((flake) => flake.close(), () => {})'
  const variables = { FLAKEFORGE_STROE: 'redis://localhost', XDG_STATE_HOME: diskFolder(t) }
  t.deepEqual(await hintsOf(t, variables, source), { FLAKEFORGE_STROE: 'Did you mean FLAKEFORGE_STORE?' })
})

test('so does a node field of another layout, only where node 0 is used', async (t) => {
  const shard = { FLAKEFORGE_SHARD: '3' }
  t.deepEqual(Object.keys(await hintsOf(t, shard)), ['FLAKEFORGE_SHARD'])
  t.deepEqual(await hintsOf(t, { ...shard, FLAKEFORGE_WORKER: '3' }), {})
  t.deepEqual(await hintsOf(t, { ...shard, FLAKEFORGE_WORKER: '0' }), {
    FLAKEFORGE_SHARD:
      'The variables here are FLAKEFORGE_ID, FLAKEFORGE_DATACENTER, FLAKEFORGE_WORKER, FLAKEFORGE_STORE.',
  })
  t.deepEqual(await hintsOf(t, shard, 'new FlakeId({ layout: "instagram" }); new FlakeId({ id: 0 })'), {})
})

test('variables that are read, those of the server and of its clients, and those that Kubernetes and Docker set for such services cause none', async (t) => {
  const quiet = {
    FLAKEFORGE_ID: '5',
    FLAKEFORGE_STORE: 'file:/nowhere',
    FLAKEFORGE_SERVER_METRIC_PORT: '1',
    FLAKEFORGE_TOKEN: 'secret of a client',
    FLAKEFORGE_CA: 'ca.crt',
    FLAKEFORGE_CERT: 'client.crt',
    FLAKEFORGE_KEY: 'client.key',
    FLAKEFORGE_SERVICE_HOST: '10.0.0.1',
    FLAKEFORGE_SERVICE_PORT: '80',
    FLAKEFORGE_SERVICE_PORT_HTTP: '80',
    FLAKEFORGE_PORT: 'tcp://10.0.0.1:80',
    FLAKEFORGE_PORT_80_TCP: 'tcp://10.0.0.1:80',
    FLAKEFORGE_PORT_80_TCP_ADDR: '10.0.0.1',
    FLAKEFORGE_REDIS_PORT_6379_TCP_PROTO: 'tcp',
  }
  t.deepEqual(await hintsOf(t, quiet), {})
  t.deepEqual(Object.keys(await hintsOf(t, { FLAKEFORGE_PORT: '80' })), ['FLAKEFORGE_PORT'])
})

// --- clusters ---

/** The codes of the warnings of two workers, each of which runs `source`. */
const warningsOfWorkers = (t, source, variables = {}) =>
  jsonOf(
    t,
    variables,
    `
    const cluster = require('node:cluster')
    if (cluster.isWorker) {
      ${watched(source, 'process.send(warnings.map(([code]) => code), () => process.disconnect())')}
    } else {
      const told = [1, 2].map(() => new Promise((resolve) => cluster.fork().once('message', resolve)))
      Promise.all(told).then((codes) => console.log(JSON.stringify(codes)))
    }`,
  )

test('a cluster worker without a node number warns once, and others do not', async (t) => {
  const usual = 'new FlakeId(); new FlakeId()'
  t.deepEqual(await warningsOfWorkers(t, usual), [['FLAKEFORGE_NODE_ZERO'], ['FLAKEFORGE_NODE_ZERO']])
  t.deepEqual(await warningsOfWorkers(t, MAKE, { FLAKEFORGE_ID: '3' }), [[], []])
  const named = 'new FlakeId({ id: 1 }); new FlakeId({ worker: 2 }); new FlakeId({ clock: () => 5 })'
  t.deepEqual(await warningsOfWorkers(t, named), [[], []])
  t.deepEqual(await warningsOf(t, {}, MAKE), [], 'the primary')
})

for (const source of [
  'new FlakeId({ id: 0 })',
  'new FlakeId({ id: process.env.NO_SUCH ?? 0 })',
  'new FlakeId({ worker: 0 })',
]) {
  test(`${source} in two workers: the second one warns, because the first may be intended`, async (t) => {
    const codes = await warningsOfWorkers(t, source)
    t.deepEqual(codes.map(([code]) => code).sort(), ['FLAKEFORGE_NODE_ZERO', undefined])
  })
}

test('under PM2: node number 0 warns, except an explicit one in instance 0', async (t) => {
  const codesOf = async (instance, source) =>
    (await warningsOf(t, { NODE_APP_INSTANCE: instance }, source)).map(([code]) => code)
  t.deepEqual(await codesOf('0', 'new FlakeId()'), ['FLAKEFORGE_NODE_ZERO'])
  t.deepEqual(await codesOf('0', 'new FlakeId({ id: 0 })'), [])
  t.deepEqual(await codesOf('1', 'new FlakeId({ id: 0 })'), ['FLAKEFORGE_NODE_ZERO'])
  t.deepEqual(await codesOf('1', 'new FlakeId({ id: process.env.NODE_APP_INSTANCE })'), [])
})
