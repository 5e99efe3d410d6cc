// What people write from habit, or misspell: each error names what was meant, in the library and on the command line. Nothing
// is ignored.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import { RemoteFlakeId } from 'flakeforge/remote'
import { run, textOf } from '../support/command.mjs'
import { FlakeId, lease } from '../support/index.mjs'

const { Seal, format, parse } = FlakeId
const { SegmentId, etcdStore, fileStore, mysqlStore, openStore, postgresStore, recordStore, redisStore } = lease
const STORE = 'file:/nowhere/ids'
const POOL = { query() {}, connect() {}, on() {}, totalCount: 0, options: { maxUses: 1 } }
const RECORDS = { read() {}, swap() {}, names() {} }

const CALLS = {
  'ttl of join()': [() => FlakeId.join(STORE, { ttl: 5 }), /Did you mean 'ttlMs'\?/],
  'grp of join()': [() => FlakeId.join(STORE, { grp: 'x' }), /Did you mean 'group'\?/],
  'Group of join()': [() => FlakeId.join(STORE, { Group: 'x' }), /Did you mean 'group'\?/],
  'skew of createGroup()': [() => FlakeId.createGroup(STORE, { skew: 5 }), /Did you mean 'skewMs'\?/],
  'url of elseFrom': [() => FlakeId.join(STORE, { elseFrom: { url: 'http://x' } }), /Did you mean 'urls'\?/],
  'datacentre of the constructor': [() => new FlakeId({ datacentre: 1 }), /Did you mean 'datacenter'\?/],
  'a store for the constructor': [() => new FlakeId('redis://x'), /call await FlakeId\.join\(store\)/],
  ...Object.fromEntries(
    ['group', 'slots', 'ttlMs', 'skewMs', 'durable', 'waitMs', 'signal', 'elseFrom'].map((name) => [
      `${name} of join(), for the constructor`,
      [
        () => new FlakeId({ [name]: 1 }),
        new RegExp(`^${name} is an option of await FlakeId\\.join\\(store, options\\)`),
      ],
    ]),
  ),
  'several stores for the constructor': [
    () => new FlakeId(['redis://:s3cret@a', 'redis://b']),
    /call await FlakeId\.join\(store\)/,
  ],
  'a folder for the constructor': [() => new FlakeId('/var/lib/ids'), /call await FlakeId\.join\(store\)/],
  'store of the constructor': [
    () => new FlakeId({ store: 'redis://:s3cret@x' }),
    /^store is the first argument of await FlakeId\.join\(store, options\)/,
  ],
  'store among the options of join()': [
    () => FlakeId.join({ store: 'redis://:s3cret@x', group: 'x' }),
    /Write join\(store, { group }\)\.$/,
  ],
  'url alone for join()': [() => FlakeId.join({ url: 'redis://:s3cret@x' }), /Write join\(url\)\.$/],
  'options for join() without a store': [
    () => FlakeId.join({ group: 'x' }),
    /join\(undefined, { group }\) uses the default store/,
  ],
  ...Object.fromEntries(
    Object.entries({ redisStore, postgresStore, mysqlStore }).map(([name, open]) => [
      `an address for ${name}()`,
      [() => open('redis://:s3cret@x'), /^client must be .*FlakeId\.join\(\) and openStore\(\) take an address$/],
    ]),
  ),
  'the URL of a server as a store': [
    () => FlakeId.join('http://ids:8080'),
    /RemoteFlakeId\.connect\(\) of flakeforge\/remote/,
  ],
  'MongoDB as a store': [
    () => FlakeId.join('mongodb+srv://me:s3cret@x/app'),
    /https:\/\/\S+\/docs\/store\/mongodb\.md$/,
  ],
  ...Object.fromEntries(
    Object.entries({ 6379: 'redis', 5432: 'postgres', 3306: 'mysql', 2379: 'etcd' }).map(([port, scheme]) => [
      `port ${port} without a scheme`,
      [() => openStore(`db-1.local:${port}`), new RegExp(`Did you mean '${scheme}://db-1\\.local:${port}'\\?$`)],
    ]),
  ),
  "Snowflake's layout": [() => new FlakeId({ layout: 'Snowflake' }), /Did you mean 'twitter'\?/],
  'a misspelt layout': [() => new FlakeId({ layout: 'twiter' }), /Did you mean 'twitter'\?/],
  'a node of a layout without one': [
    () => new FlakeId({ layout: 'mastodon', id: 1 }),
    /because layout 'mastodon' has no node number/,
  ],
  'blok of SegmentId.open()': [() => SegmentId.open(STORE, { name: 'a', blok: 3 }), /Did you mean 'block'\?/],
  'nam of RemoteFlakeId.connect()': [
    () => RemoteFlakeId.connect('http://localhost:1', { nam: 'x' }),
    /Did you mean 'name'\?/,
  ],
  'a key as text': [() => new Seal('00112233445566778899aabbccddeeff'), /Buffer\.from\(text, 'hex'\)/],
  'prefx of format()': [() => format(1n, 'hex', { prefx: 'a' }), /Did you mean 'prefix'\?/],
  'shema of postgresStore()': [() => postgresStore(POOL, { shema: 'x' }), /Did you mean 'schema'\?/],
  'endpoint of etcdStore()': [() => etcdStore({ endpoint: 'http://x' }), /Did you mean 'endpoints'\?/],
  'a misspelt scheme': [() => openStore('redsi://me:s3cret@x'), /Did you mean 'redis:\/\/…'\?$/],
  'a password with #': [() => openStore('postgres://me:s3#cret@x/app'), /# as %23/],
  'options of openStore()': [
    () => openStore('postgres://h/d', { schema: 'x' }),
    /takes only an address, and was also given an object\. Write options/,
  ],
  'options of fileStore()': [() => fileStore('/nowhere/ids', { group: 'x' }), /^fileStore\(\) takes only the path/],
  'options of redisStore()': [
    () => redisStore({}, { db: 1 }),
    /^redisStore\(\) takes only a client, .*\. Give the client its/,
  ],
  'options of recordStore()': [() => recordStore(RECORDS, { ttlMs: 1 }), /^recordStore\(\) takes only your database/],
  'options of etcdStore()': [() => etcdStore({ endpoints: 'http://x' }, {}), /^etcdStore\(\) takes only one object/],
}

for (const [what, [call, wanted]] of Object.entries(CALLS))
  test(what, async (t) => {
    const { message } = await t.throwsAsync(async () => call(), { code: 'ERR_FLAKE_OPTION' })
    t.regex(message, wanted)
    t.notRegex(message, /s3|cret/)
  })

const { signal } = new AbortController()

/** Calls with an argument after the last one that they take. It has a signal, which would be ignored. */
const MORE = {
  'FlakeId.join': () => FlakeId.join('redis://:s3cret@x', { group: 'x' }, { signal }),
  'FlakeId.createGroup': () => FlakeId.createGroup('redis://:s3cret@x', null, { signal }),
  'SegmentId.open': () => SegmentId.open(STORE, { name: 'x' }, { signal }),
  'RemoteFlakeId.connect': () => RemoteFlakeId.connect('http://localhost:1', { name: 'x' }, { signal }),
  nextAsync: (ids) => ids.nextAsync(undefined, { signal }),
  takeAsync: (ids) => ids.takeAsync(3, null, { signal }),
  ids: (ids) => ids.ids({}, { signal }),
  attach: ({ attach }) => attach?.({}, { signal }),
  nextAt: ({ nextAt }) => nextAt?.(Date.now(), { signal }),
  init: ({ init }) => init?.(5, { signal }),
  skipTo: ({ skipTo }) => skipTo?.(5, { signal }),
}

test('an argument after the last one that a call takes is refused', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-more-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const store = fileStore(folder)
  const all = [new FlakeId(), await FlakeId.join(store, { backfill: 1 }), await SegmentId.open(store, { name: 'x' })]
  let refused = 0
  for (const ids of all) {
    const bound = new Proxy(ids, { get: (_, name) => ids[name]?.bind(ids) })
    for (const [name, call] of Object.entries(MORE)) {
      if (!name.includes('.') && ids[name] === undefined) continue
      const error = await t.throwsAsync(
        async () => call(bound),
        { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError },
        name,
      )
      t.deepEqual(error.value, { signal }, name)
      const wanted = `^${name.replace(/^FlakeId\./, '')}\\(\\) takes only .*, and was also given an object\\. Leave it out\\.$`
      t.regex(error.message, new RegExp(wanted))
      refused += 1
    }
    // As a listener, a call without any parameter gets arguments that are not meant for it. Absent ones are none.
    await ids.nextAsync(undefined, null, undefined)
    await ids.close?.('SIGTERM', 15)
  }
  t.is(refused, 3 * 7 + 4)
})

const COMMANDS = [
  [['create', STORE, 'g', '--ttlMs', '5000'], /Did you mean '--ttl'\?/],
  [['create', STORE, 'g', '--slot', '5'], /Did you mean '--slots'\?/],
  [['slots', STORE, '--grp', 'g'], /Did you mean '--group'\?/],
  [['inspect', '--layot', 'twitter', '1'], /Did you mean '--layout'\?/],
  [['inspct', '1'], /Did you mean 'inspect'\?/],
  [['new', '--layout', 'snowflake'], /Did you mean 'twitter'\?/],
  [['completion', 'bsh'], /Did you mean 'bash'\?/],
]

for (const [words, wanted] of COMMANDS)
  test(`flakeforge ${words.join(' ')}`, async (t) => {
    const { code, stderr } = await run(words)
    t.is(code, 2)
    t.regex(stderr, wanted)
  })

test('an ID with a prefix that was not asked for: the error shows how to ask for it', (t) => {
  const wanted = { code: 'ERR_FLAKE_ID', message: /give the option { prefix: 'ord_' }$/ }
  t.throws(() => parse('ord_5'), wanted)
  t.throws(() => parse('ord_0000000000005', 'base32'), wanted)
  t.is(parse('ord_5', 'dec', { prefix: 'ord_' }).readBigUInt64BE(), 5n)
  for (const rubbish of ['_5', '1_5', 'Ünder_5'])
    t.throws(() => parse(rubbish), { code: 'ERR_FLAKE_ID', message: /only digits of dec/ })
  t.throws(() => parse(5), { code: 'ERR_FLAKE_ID', message: /^5 is not text of an ID in dec/ })
})

test('the version and help are found before and after a command', async (t) => {
  const [version, json, help, overview] = await Promise.all(
    [['--version'], ['--version', '--json'], ['help', 'inspect'], ['help']].map((words) => textOf(t, words)),
  )
  t.is(await textOf(t, ['new', '5', '--version']), version)
  t.is(await textOf(t, ['inspect', '--json', '--version']), json)
  t.is(JSON.parse(json).version, version.trim())
  for (const words of [
    ['--help', 'inspect'],
    ['-h', 'inspect'],
    ['inspect', '--help'],
  ])
    t.is(await textOf(t, words), help)
  for (const words of [['--help'], ['-h'], ['--help', '--json'], ['help', 'help']])
    t.is(await textOf(t, words), overview)
  t.is(await textOf(t, ['completion', 'bash', '--version']), version)
})

test('flakeforge -V prints the version', async (t) => {
  const [short, long] = await Promise.all([run(['-V']), run(['--version'])])
  t.is(short.code, 0)
  t.is(short.stdout, long.stdout)
})
