// No password of an address is printed: not in an error, a warning, an event, metrics or inspect(), and not by the
// command.

import diagnostics from 'node:diagnostics_channel'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import util from 'node:util'
import test from 'ava'

import { run } from '../support/command.mjs'
import { FlakeId, lease } from '../support/index.mjs'
import { diskFolder } from '../support/processes.mjs'
import { ADDRESSES, SECRET, shows } from '../support/secrets.mjs'

const require = createRequire(import.meta.url)
const { RemoteFlakeId } = require('flakeforge/remote')
const { printable, withoutSecrets, withoutSecretsIn } = require('../../target/rooms/lib/base/printable.js')

const heard = []
process.on('warning', (warning) => heard.push(warning))
for (const name of ['join', 'renew', 'block'])
  diagnostics
    .tracingChannel(`flakeforge:${name}`)
    .subscribe(
      Object.fromEntries(
        ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((event) => [event, (message) => heard.push(message)]),
      ),
    )

const NEVER = { group: 'g', waitMs: 0 }

/** Each call gets an address in a place where users put one, by mistake or not. */
const CALLS = {
  'join()': (address) => FlakeId.join(address, NEVER),
  'join() with a store for options': (address) => FlakeId.join({ store: address, group: 'g' }),
  'join() with an unknown option': (address) => FlakeId.join('file:/nowhere', { url: address }),
  'createGroup()': (address) => FlakeId.createGroup(address, { group: 'g' }),
  'openStore()': (address) => lease.openStore(address).close(),
  'SegmentId.open()': (address) => lease.SegmentId.open(address, { name: 'n' }),
  'restored()': (address) => lease.restored(address, 'g'),
  'fileStore()': (address) => lease.fileStore(address),
  'etcdStore()': (address) => lease.etcdStore({ endpoints: address }),
  'redisStore()': (address) => lease.redisStore(address),
  'RemoteFlakeId.connect()': (address) => RemoteFlakeId.connect(address, { name: 'n', waitMs: 0, timeoutMs: 200 }),
  'connect() with a name': (address) =>
    RemoteFlakeId.connect('http://127.0.0.1:1', { name: address, waitMs: 0, timeoutMs: 200 }),
  elseFrom: (address) => FlakeId.join('redis://127.0.0.1:1', { ...NEVER, elseFrom: { urls: address, name: 'n' } }),
  'elseFrom as a text': (address) => FlakeId.join('redis://127.0.0.1:1', { ...NEVER, elseFrom: address }),
  shared: (address) => new FlakeId({ id: 1, shared: address }),
  layout: (address) => new FlakeId({ layout: address }),
}

/** Some connect to a port without a server: not for each of the addresses. */
const ASKS = /connect|elseFrom$/

for (const [name, call] of Object.entries(CALLS)) {
  test.serial(`${name}: no error or warning shows the password of an address`, async (t) => {
    const given = ADDRESSES.filter((address, i) => !ASKS.test(name) || /^https?:/.test(address) || i % 7 === 0)
    for (const address of given) {
      const made = await Promise.resolve(address)
        .then(call)
        .then(
          (value) => value,
          (error) => error,
        )
      t.false(shows(made), `${JSON.stringify(address)}: ${made?.message}`)
      if (made instanceof Error) t.regex(String(made.code), /^ERR_FLAKE_/, `${address}: ${made.stack}`)
      else await made?.close?.()
    }
    await new Promise(setImmediate) // warnings come in a later turn
    t.false(heard.some((message) => shows(message.message ?? util.inspect(message, { depth: 1 }))))
  })
}

test.serial('FLAKEFORGE_STORE: no error shows its password', async (t) => {
  t.teardown(() => delete process.env.FLAKEFORGE_STORE)
  for (const address of ADDRESSES.filter((text) => !text.includes('\0'))) {
    process.env.FLAKEFORGE_STORE = address
    const error = await FlakeId.join(undefined, NEVER).then(
      () => undefined,
      (thrown) => thrown,
    )
    t.false(shows(error), `${JSON.stringify(address)}: ${error?.message}`)
  }
})

const WORDS = [['slots'], ['create'], ['destroy'], ['restored'], ['new', '--store'], ['new'], ['inspect'], ['at'], []]

test.serial('the command prints no password, and creates no folder named after one', async (t) => {
  const folder = diskFolder(t)
  const typed = ADDRESSES.filter((address, i) => !address.includes('\0') && i % 11 === 0)
  await Promise.all(
    typed.map(async (address, i) => {
      const words = WORDS[i % WORDS.length]
      const { stdout, stderr } = await run([...words, address], { cwd: folder })
      t.false(shows(stdout, stderr), `${[...words, address].join(' ')}: ${stdout}${stderr}`)
    }),
  )
  for (const address of [
    `//user:${SECRET}@host/0`,
    `/u:${SECRET}@host`,
    `file://u:${SECRET}@host/0`,
    `file:/redis://u:${SECRET}@h`,
  ]) {
    const { code, stdout, stderr } = await run(['create', address])
    t.is(code, 2, stderr)
    t.false(shows(stdout, stderr), stderr)
    t.false(fs.existsSync(`/user:${SECRET}@host`) || fs.existsSync(`/u:${SECRET}@host`))
  }
})

const QUERIES = [
  ...['mongodb://u0ser:PW@h/?x=PW', 'mongodb://h/?PW', 'redis//u0ser:PW@h?x=PW', 'redis//h?x=PW', ' redis://h/?x=PW'],
  ...[
    'REDIS://U0SER:PW@H?X=PW',
    'redis:h?x=PW',
    'h:1?PW',
    'h?auth=PW',
    '//h/?x=PW',
    '\tfoo://h\n?x=PW',
    'amqp://h/v#PW',
  ],
  ...['mongodb://u0ser:PW@a,b:1,c/?x=PW', 'jdbc:sqlserver://h;user=u0ser;x=PW', 'h:6379,password=PW,ssl=true'],
  ...[
    'host=h user=u0ser password=PW',
    'Server=h;Uid=u0ser;Pwd=PW;',
    'u0ser:PW@h',
    'foo:u0ser:PW@h',
    'redis://u0ser:PW',
  ],
]

test('an address of any scheme shows neither user nor parameters', (t) => {
  for (const text of QUERIES.map((each) => each.replaceAll('PW', SECRET))) {
    t.notRegex(withoutSecrets(text), /u0ser|S3cr3tPw/i, text)
    t.notRegex(withoutSecretsIn(`cannot open ${text} now`), /u0ser|S3cr3tPw/i, text)
    try {
      lease.openStore(text) // connects at its first call
    } catch (error) {
      t.is(error.code, 'ERR_FLAKE_OPTION')
      t.notRegex(util.inspect(error, { showHidden: true }), /u0ser|S3cr3tPw/i, text)
    }
  }
})

test('text that is not a secret is shown unchanged', (t) => {
  for (const text of [
    ...[
      'redis://localhost',
      'redis://127.0.0.1:6379/0',
      'etcd://a:2379,b:2379',
      'postgres://[::1]:5432/app',
      'C:\\ids',
      'orders',
    ],
    ...[
      '/var/lib/@app/ids',
      'file:/var/lib/@app/ids',
      './@scope',
      '2026-01-31T12:00:30',
      'file:///var/lib/ids',
      '',
      'a:b:c',
    ],
  ])
    t.is(withoutSecrets(text), text)
  t.is(withoutSecrets('redis://me:p@host:1/2?a=b'), 'redis://…@host:1/2?…')
  t.is(withoutSecretsIn('connect to redis://u:p@h:1 failed, password=x'), 'connect to redis://…@h:1 failed, password=…')
  for (const end of ['.', ':', ',', '!', '?', ').'])
    t.is(
      withoutSecretsIn(`of redis://a:1 redis://b:7804${end} See (etcd://c:2,d:3${end}`),
      `of redis://a:1 redis://b:7804${end} See (etcd://c:2,d:3${end}`,
    )
  for (const end of ['', '.', ':', ').', '?.'])
    t.notRegex(withoutSecretsIn(`of redis://u0ser:S3cr3t${end} See`), /u0ser|S3/)
  const form = 'like redis://[user:password@]host[:6379][/N]'
  t.is(withoutSecretsIn(form), form)
})

test('control characters for terminals are escaped', (t) => {
  t.is(
    printable('a\u001b[31m\n\u202eb\u0007\u009b\u2028\ud800ü 日本'),
    'a\\u{1b}[31m\\n\\u{202e}b\\u{7}\\u{9b}\\u{2028}\\u{d800}ü 日本',
  )
})
