// The messages of join() and similar calls where they cannot continue: which option to set, which argument is meant,
// and the command that creates a group without a quiet period.

import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { FlakeId, lease } from '../support/index.mjs'
import { joined } from '../support/lease.mjs'
import { diskFolder } from '../support/processes.mjs'

const require = createRequire(import.meta.url)
const { howToCreate } = require('../../target/rooms/lib/lease/how-to-create.js')
const { openStore } = require('../../target/rooms/lib/lease/stores/open.js')
const { readJoinOptions } = require('../../target/rooms/lib/lease/join-options.js')
const { createGroup } = FlakeId
const { SegmentId } = lease
const root = path.join(import.meta.dirname, '..', '..')
const EPOCH = Date.UTC(2020, 0)

// --- the arguments ---

for (const [call, run] of Object.entries({
  join: (options) => FlakeId.join(options),
  createGroup: (options) => createGroup(options),
  'SegmentId.open': (options) => SegmentId.open(options),
})) {
  test.serial(`${call}({ … }): options are the second argument`, async (t) => {
    const options = { group: 'x', slots: 4 }
    const error = await t.throwsAsync(async () => run(options), { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError })
    t.like(error, { option: 'store', value: options })
    t.true(error.message.includes(`${call}(undefined, { group, slots })`), error.message)
  })
}

test.serial('an object with some steps of a store is rejected as one that lacks the others', async (t) => {
  const error = await t.throwsAsync(FlakeId.join({ create() {}, group: 'x' }), { code: 'ERR_FLAKE_OPTION' })
  t.regex(error.message, /has no acquire\(\)/)
})

test.serial('a plain path: the error suggests the intended address', async (t) => {
  for (const [given, meant] of [
    ['/var/lib/ids', 'file:/var/lib/ids'],
    ['./ids', `file:${path.resolve('ids')}`],
    ['C:\\ids', 'file:C:\\ids'],
    ['C:/ids', 'file:C:/ids'],
  ]) {
    const { message } = await t.throwsAsync(FlakeId.join(given), { code: 'ERR_FLAKE_OPTION' })
    t.true(message.endsWith(`but is '${given}'. Did you mean '${meant}'?`), message)
  }
})

// --- the environment ---

/** The error of a call with this FLAKEFORGE_STORE. */
async function withVariable(t, value, call) {
  const { FLAKEFORGE_STORE: before } = process.env
  process.env.FLAKEFORGE_STORE = value
  try {
    return await t.throwsAsync(async () => call(), { code: 'ERR_FLAKE_OPTION' })
  } finally {
    if (before === undefined) delete process.env.FLAKEFORGE_STORE
    else process.env.FLAKEFORGE_STORE = before
  }
}

for (const value of [
  'nonsense',
  'mongodb://me:s3cret@db/x',
  'redis://me:s3cret@host/x',
  'etcd://me:s3cret@',
  'file:',
  'file:ids',
]) {
  test.serial(`FLAKEFORGE_STORE=${value} is named in the error, without its password`, async (t) => {
    for (const call of [() => FlakeId.join(), () => createGroup(), () => SegmentId.open(null, { name: 'x' })]) {
      const error = await withVariable(t, value, call)
      t.true(
        error.message.startsWith('The environment variable FLAKEFORGE_STORE cannot be used: store must be '),
        error.message,
      )
      t.is(error.option, 'store')
      t.false(JSON.stringify([error, error.message, error.stack]).includes('s3cret'), error.message)
    }
  })
}

test.serial('a given address is not taken for that of the environment', async (t) => {
  const error = await withVariable(t, 'nonsense', () => FlakeId.join('mongodb://x'))
  t.false(error.message.includes('FLAKEFORGE_STORE'))
})

// --- examples/cluster.js ---

/** Runs the example with this environment: its exit code and its output. */
function cluster(env) {
  const script = path.join(root, 'examples', 'cluster.js')
  return promisify(execFile)(process.execPath, [script], { env: { ...process.env, ...env } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

test.serial('examples/cluster.js uses FLAKEFORGE_STORE, and in a container says once what to set', async (t) => {
  const folder = diskFolder(t)
  const fine = await cluster({ FLAKEFORGE_STORE: `file:${folder}`, container: 'docker' })
  t.like(fine, { code: 0, stderr: '' })
  t.regex(fine.stdout, /^400000 IDs, 0 duplicates$/m)
  const { code, stdout, stderr } = await cluster({ FLAKEFORGE_STORE: '', container: 'docker' })
  t.is(code, 1)
  t.is(stdout, '')
  t.regex(stderr, /^No store is set.*\(the environment variable (?:container|KUBERNETES_SERVICE_HOST) is set\)/)
  t.regex(stderr, /FLAKEFORGE_STORE=redis:/)
  t.is(stderr.trim().split('\n').length, 1, stderr)
})

// --- the command that creates a group ---

const OWN = {
  epoch: EPOCH,
  tickMs: 10,
  name: "it's mine",
  fields: Object.entries({ timestamp: 41, shard: 13, counter: 10 }),
}

const GROUPS = [
  {},
  { group: "a 'quoted' $HOME group" },
  { slots: 8, ttlMs: '20000', skewMs: 3000 },
  { layout: 'hazelcast', maxAheadMs: 20_000, nodeOffset: 7 },
  { layout: 'snowcast', nodes: 256, epoch: EPOCH, idOffset: -5n },
  { layout: 'uniqueid', mode: 'sequential', generator: '5' },
  { datacenter: 3, epoch: new Date(EPOCH), maxAheadMs: 30_000 },
  { layout: OWN, slots: 9 },
  { layout: { ...OWN, epoch: -5 } },
  { layout: 'discord', epoch: EPOCH },
]

for (const options of GROUPS) {
  const checked = readJoinOptions(options)
  test.serial(`the command for ${howToCreate('redis://localhost', checked)} creates this very group`, async (t) => {
    const store = `file:${diskFolder(t)}`
    const flakeforge = `'${process.execPath}' '${path.join(root, 'dist', 'flakeforge.cjs')}'`
    const command = howToCreate(store, checked).replace('npx flakeforge', flakeforge)
    await promisify(execFile)('sh', ['-c', command])
    t.is(fs.readdirSync(store.slice('file:'.length)).filter((name) => !name.startsWith('.')).length, 1)
    const flake = await FlakeId.join(store, options) // another number of slots or another layout would be rejected
    await flake.close()
  })
}

const GIVEN = ['redis://localhost', 'redis://me:s3cret@host/1', 'etcd://a:1,b:2', 'postgres://h/d?password=s3cret']

test('the command names the store, and never a password', (t) => {
  const commands = GIVEN.map((store) => howToCreate(store, readJoinOptions({ group: 'orders' })))
  t.deepEqual(commands, [
    'npx flakeforge create redis://localhost orders',
    "npx flakeforge create 'redis://…@host/1' orders",
    'npx flakeforge create etcd://a:1,b:2 orders',
    "npx flakeforge create 'postgres://h/d?…' orders",
  ])
})

test.serial('the command has the variable where that names the store, and otherwise the default folder', async (t) => {
  const options = readJoinOptions({ group: 'orders' })
  const command = 'npx flakeforge create "$FLAKEFORGE_STORE" orders'
  t.regex(howToCreate(undefined, options), /^npx flakeforge create file:\/.*\/flakeforge orders$/)
  process.env.FLAKEFORGE_STORE = GIVEN[1]
  t.teardown(() => delete process.env.FLAKEFORGE_STORE)
  t.is(howToCreate(GIVEN[1], options), command)
  t.is(howToCreate(undefined, options), command)
  t.is(howToCreate(openStore(), options), command, 'also in a program that opened it')
  t.not(howToCreate(GIVEN[0], options), command)
})

test('the command includes times that differ from the defaults of `flakeforge create`', (t) => {
  const of = (options) =>
    howToCreate('redis://h', readJoinOptions(options)).slice('npx flakeforge create redis://h '.length)
  t.is(of({ ttlMs: 30_000, skewMs: 5000, slots: 1024 }), 'default')
  t.is(of({ ttlMs: 20_000, skewMs: 100, slots: 8 }), 'default --slots 8 --ttl 20000 --skew 100')
  t.is(of({ maxAheadMs: 30_000 }), 'default --ttl 53000')
  t.is(of({ durable: true, slots: 8 }), 'default --slots 8 --durable')
  t.is(of({ durable: false }), 'default')
  t.is(of({ layout: 'hazelcast' }), 'default --layout hazelcast', 'which has 31000 unchanged')
})

test.serial('a store that is an object: the suggestion is the same call in a program', async (t) => {
  const { store } = await joined(t)
  t.regex(howToCreate(store, readJoinOptions({})), /createGroup\(store, options\)/)
})

test.serial("a member whose options differ from its group's gets the command for a group with its own", async (t) => {
  const store = `file:${diskFolder(t)}`
  await createGroup(store, { group: 'orders', slots: 8 })
  for (const [options, flags] of [
    [{ slots: 4 }, '--slots 4'],
    [{ slots: 8, layout: 'hazelcast', nodeOffset: 7 }, '--layout hazelcast --node-offset 7 --slots 8'],
  ]) {
    const call = FlakeId.join(store, { group: 'orders', ...options })
    const error = await t.throwsAsync(call, { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
    const end = `Or create a group of another name with these: npx flakeforge create ${store} orders ${flags}`
    t.true(error.message.endsWith(end), error.message)
    t.true(error.stack.includes(end), 'which Node prints')
  }
})

test.serial('the host of a slot is the name of the pod', async (t) => {
  const { HOSTNAME } = process.env
  t.teardown(() => {
    if (HOSTNAME === undefined) delete process.env.HOSTNAME
    else process.env.HOSTNAME = HOSTNAME
  })
  process.env.HOSTNAME = 'orders-7c9f'
  t.is(readJoinOptions({}).host, 'orders-7c9f')
  t.is(readJoinOptions({ host: 'mine' }).host, 'mine')
  process.env.HOSTNAME = ''
  t.is(readJoinOptions({}).host, os.hostname())
})
