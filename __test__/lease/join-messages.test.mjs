// The messages of join() and similar calls where they cannot continue: which option to set, which argument is meant,
// and the command that creates a group without a quiet period.

import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { freePort, stopAfter } from '../servers/server.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { joined } from '../support/lease.mjs'
import { diskFolder } from '../support/processes.mjs'

const require = createRequire(import.meta.url)
const { howToCreate } = require('../../target/rooms/lib/lease/how-to-create.js')
const { openStore } = require('../../target/rooms/lib/stores/open.js')
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

test.serial('a store that is passed to the constructor: the error mentions join(), and shows no password', (t) => {
  const error = t.throws(() => new FlakeId('redis://me:s3cret@localhost'), { code: 'ERR_FLAKE_OPTION' })
  t.regex(error.message, /^options must be an object, .* call await FlakeId\.join\(store\)$/)
  t.false(JSON.stringify([error, error.message, error.stack]).includes('s3cret'))
})

test.serial('options of openStore() are rejected instead of ignored', (t) => {
  const options = { schema: 'ids' }
  const error = t.throws(() => lease.openStore('postgres://localhost/app', options), { code: 'ERR_FLAKE_OPTION' })
  t.regex(error.message, /postgres:\/\/host\/app\?schema=ids/)
  t.is(error.value, options)
  t.notThrows(() => lease.openStore(`file:${diskFolder(t)}`, undefined))
})

test.serial('an address with an unescaped # in its password: the error says how to write it', (t) => {
  const error = t.throws(() => lease.openStore('postgres://me:s3#cret@localhost/app'), { code: 'ERR_FLAKE_OPTION' })
  t.regex(error.message, /# as %23/)
  t.notRegex(error.message, /s3|cret/)
})

test.serial('an id for a layout without a node number', (t) => {
  const error = t.throws(() => new FlakeId({ layout: 'mastodon', id: 5 }), { code: 'ERR_FLAKE_OPTION' })
  t.is(error.message, "id must be left out, because layout 'mastodon' has no node number, but is 5")
})

test.serial('a store without an answer: the error names the address without secrets, and what to check', async (t) => {
  const port = await freePort()
  const calls = [
    [FlakeId.join, {}],
    [createGroup, {}],
    [SegmentId.open, { name: 'x' }],
  ]
  for (const scheme of ['redis', 'postgres', 'mysql'])
    for (const [call, options] of calls) {
      const error = await t.throwsAsync(call(`${scheme}://me:s3cret@127.0.0.1:${port}/0`, options), {
        code: 'ERR_FLAKE_STORE',
      })
      t.true(
        error.message.includes(`The store is '${scheme}://…@127.0.0.1:${port}/0'. Check that the server runs there`),
        error.message,
      )
      t.true(error.stack.includes('The store is '))
      t.false(JSON.stringify([error, error.message, error.stack]).includes('s3cret'))
    }
})

const withRedis = wantRedis() === undefined ? test.skip : test.serial

withRedis('a wrong password, a wrong database, another kind of server: the error says what to check', async (t) => {
  const server = stopAfter(t, await startRedis())
  await server.cli('CONFIG', 'SET', 'requirepass', 'hunter2')
  for (const [url, wanted] of [
    [`redis://127.0.0.1:${server.port}`, /NOAUTH.* Check the user and password/],
    [`redis://:wr0ng@127.0.0.1:${server.port}`, /WRONGPASS.* Check the user and password/],
    [`redis://:hunter2@127.0.0.1:${server.port}/99`, /DB index.* Check that this database exists there/],
    [`postgres://me@127.0.0.1:${server.port}/app`, /Check that it runs .* no other service/],
  ]) {
    const { message } = await t.throwsAsync(FlakeId.join(url, { waitMs: 0 }), { code: 'ERR_FLAKE_STORE' })
    t.regex(message, wanted)
    t.notRegex(message, /wr0ng|hunter2/)
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

test.serial(
  'a member whose options differ from those of its group learns what differs, and how to change it',
  async (t) => {
    const store = `file:${diskFolder(t)}`
    await createGroup(store, { group: 'orders', slots: 8 })
    const other = 'IDs of another layout or epoch may equal earlier ones: keep them in another table.'
    for (const [options, has, uses, flags, end] of [
      [{ slots: 4 }, '8 slots', '4 slots', '--slots 4', ''],
      [{ slots: 8, epoch: 5 }, 'epoch 0', 'epoch 5', '--epoch 5 --slots 8', ` ${other}`],
      [
        { slots: 8, layout: 'discord' },
        "layout 'flake'",
        "layout 'discord'",
        '--layout discord --slots 8',
        ` ${other}`,
      ],
      [
        { slots: 8, layout: 'hazelcast', epoch: 9, nodeOffset: 7 },
        "layout 'flake', no nodeOffset",
        "layout 'hazelcast' with epoch 9, nodeOffset 7",
        '--layout hazelcast --epoch 9 --node-offset 7 --slots 8',
        ` ${other}`,
      ],
      [{ slots: 8, datacenter: 3 }, 'no datacenter', 'datacenter = 3', '--datacenter 3 --slots 8', ''],
      [
        { slots: 8, layout: OWN },
        'epoch 0, tick 1 ms, timestamp 42 bits at 22, counter 12 bits at 0',
        `epoch ${EPOCH}, tick 10 ms, timestamp 41 bits at 23, counter 10 bits at 0`,
        undefined,
        ` ${other}`,
      ],
    ]) {
      for (const call of [FlakeId.join, createGroup]) {
        const { message, stack } = await t.throwsAsync(call(store, { group: 'orders', ...options }), {
          code: 'ERR_FLAKE_CONFIG_MISMATCH',
        })
        const start = `Group 'orders' has ${has}; this process uses ${uses}. Use the options that it was created with. `
        t.true(message.startsWith(start), message)
        t.true(message.includes(`for good: \`npx flakeforge destroy ${store} orders --yes\`. Then create`), message)
        if (flags !== undefined)
          t.true(message.endsWith(`\`npx flakeforge create ${store} orders ${flags}\`.${end}`), message)
        t.true(stack.includes(start), 'which Node prints')
      }
    }
  },
)

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
