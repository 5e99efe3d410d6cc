// What people write from habit, or misspell: each error names what was meant, in the library and on the command line. Nothing
// is ignored.

import test from 'ava'
import { RemoteFlakeId } from 'flakeforge/remote'
import { run } from '../support/command.mjs'
import { FlakeId, lease } from '../support/index.mjs'

const { Seal, format } = FlakeId
const { SegmentId, etcdStore, fileStore, openStore, postgresStore, recordStore, redisStore } = lease
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
    ['group', 'slots', 'ttlMs', 'skewMs', 'durable', 'waitMs', 'host', 'signal', 'elseFrom'].map((name) => [
      `${name} of join(), for the constructor`,
      [
        () => new FlakeId({ [name]: 1 }),
        new RegExp(`^${name} is an option of await FlakeId\\.join\\(store, options\\)`),
      ],
    ]),
  ),
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
    /takes only an address: write options/,
  ],
  'options of fileStore()': [() => fileStore('/nowhere/ids', { group: 'x' }), /^fileStore\(\) takes only the path/],
  'options of redisStore()': [() => redisStore({}, { db: 1 }), /^redisStore\(\) takes only a client: give the client/],
  'options of recordStore()': [() => recordStore(RECORDS, { ttlMs: 1 }), /^recordStore\(\) takes only your database/],
  'options of etcdStore()': [() => etcdStore({ endpoints: 'http://x' }, {}), /^etcdStore\(\) takes only one object/],
}

for (const [what, [call, wanted]] of Object.entries(CALLS))
  test(what, async (t) => {
    const { message } = await t.throwsAsync(async () => call(), { code: 'ERR_FLAKE_OPTION' })
    t.regex(message, wanted)
    t.notRegex(message, /s3|cret/)
  })

const COMMANDS = [
  [['create', STORE, 'g', '--ttlMs', '5000'], /Did you mean '--ttl'\?/],
  [['create', STORE, 'g', '--slot', '5'], /Did you mean '--slots'\?/],
  [['slots', STORE, '--grp', 'g'], /Did you mean '--group'\?/],
  [['inspect', '--layot', 'twitter', '1'], /Did you mean '--layout'\?/],
  [['inspct', '1'], /Did you mean 'inspect'\?/],
  [['completion', 'bsh'], /Did you mean 'bash'\?/],
]

for (const [words, wanted] of COMMANDS)
  test(`flakeforge ${words.join(' ')}`, async (t) => {
    const { code, stderr } = await run(words)
    t.is(code, 2)
    t.regex(stderr, wanted)
  })

test('flakeforge -V prints the version', async (t) => {
  const [short, long] = await Promise.all([run(['-V']), run(['--version'])])
  t.is(short.code, 0)
  t.is(short.stdout, long.stdout)
})
