// The configuration: the sources of options, their precedence, and one clear message for a mistake. program.test.mjs
// tests what the program does with it.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { isRoot, isWindows } from '../support/processes.mjs'

const require = createRequire(import.meta.url)
const { readConfig } = require('../../target/rooms/packages/server/lib/config/read.js')
const { ofArguments } = require('../../target/rooms/packages/server/lib/config/sources.js')
const { ConfigError } = require('../../target/rooms/packages/server/lib/config/config-error.js')
const { OPTIONS, keyOf, variableOf } = require('../../target/rooms/packages/server/lib/config/options.js')
const { helpText } = require('../../target/rooms/packages/server/lib/config/help.js')

const folder = mkdtempSync(join(tmpdir(), 'flakeforge-config-'))
test.after.always(() => rmSync(folder, { recursive: true }))

let files = 0
/** A file with this content, text or JSON. */
function fileOf(content) {
  const file = join(folder, `file-${files++}`)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  return file
}

const read = async (args = [], env = {}) => readConfig(ofArguments(args), env)
const readFile = (content, args = [], env = {}) => read(['--config', fileOf(content), ...args], env)

test('with nothing configured: one group on the default store, on loopback', async (t) => {
  const { port, host, entries, tokens, tls, socket } = await read()
  t.deepEqual(
    { port, host, tokens, tls, socket },
    { port: 8080, host: '127.0.0.1', tokens: undefined, tls: undefined, socket: undefined },
  )
  t.deepEqual(entries, [{ name: 'default', kind: 'group', store: undefined, options: { group: 'default' } }])
})

test('the command line takes precedence over the environment, and that over the file', async (t) => {
  const file = fileOf({ port: 1, host: 'file.example', rate: 7, names: { a: {} } })
  const env = { PORT: '2', FLAKEFORGE_SERVER_CONFIG: file, FLAKEFORGE_STORE: 'redis://env' }
  const { port, host, rate, entries } = await read(['--port', '3'], env)
  t.deepEqual([port, host, rate], [3, 'file.example', 7])
  t.is(entries[0].store, 'redis://env')
  t.is((await read([], env)).port, 2)
  t.is((await read(['--store=redis://args', '--port', '3'], env)).entries[0].store, 'redis://args')
})

/** The text for an option with several values. */
const TEXTS = { name: 'a', cors: 'https://a.example', 'trust-proxy': '10.0.0.0/8', 'allow-host': 'ids.example' }

test('every option can be a variable, and every one of the file is a key there', async (t) => {
  const files = ['config', 'tls-cert', 'tls-key', 'tls-ca', 'token-file', 'metrics-token-file']
  const skipped = new Set([...files, 'socket', 'metrics-host'])
  for (const [name, { type, among, range, onlyCommand }] of Object.entries(OPTIONS)) {
    if (skipped.has(name)) continue
    const value = { number: String(range?.[1]), texts: TEXTS[name], text: among?.[1] ?? 'twitter' }[type]
    const read1 = await read([], { [variableOf(name)]: value })
    const read2 = await read([`--${name}`, value])
    const inFile = onlyCommand ? read2 : await readFile({ [keyOf(name)]: type === 'number' ? Number(value) : value })
    if (name in read1) t.deepEqual([read1[name], inFile[name]], [read2[name], read2[name]], name)
    t.true(helpText().includes(`--${name} `) && helpText().includes(`$${variableOf(name)}\n`), name)
  }
})

test('several names, with commas in a variable', async (t) => {
  const names = async (...given) => (await read(...given)).entries.map(({ name }) => name)
  t.deepEqual(await names(['--name', 'a', '--name=b,c']), ['a', 'b,c'])
  t.deepEqual(await names([], { FLAKEFORGE_SERVER_NAME: 'a, b' }), ['a', 'b'])
})

test('a file has groups and segments, with the options of join() and of SegmentId.open()', async (t) => {
  const names = {
    orders: {
      group: 'shop',
      layout: 'twitter',
      datacenter: 3,
      counterStart: 'random',
      idOffset: '4194304',
      store: 'redis://a',
    },
    invoices: { segment: 'inv', block: 100, init: '9007199254740993' },
  }
  const { entries } = await readFile({ store: 'redis://b', names })
  t.deepEqual(entries, [
    {
      name: 'orders',
      kind: 'group',
      store: 'redis://a',
      options: { group: 'shop', layout: 'twitter', datacenter: 3, counterStart: 'random', idOffset: 4_194_304n },
    },
    {
      name: 'invoices',
      kind: 'segment',
      store: 'redis://b',
      options: { segment: 'inv', block: 100, init: 9_007_199_254_740_993n },
    },
  ])
})

test('your own layout, as JSON', async (t) => {
  const spec = { epoch: 0, fields: Object.entries({ timestamp: 42, node: 10, counter: 12 }) }
  t.deepEqual((await read(['--layout', JSON.stringify(spec)])).entries[0].options.layout, spec)
})

test('variables that Kubernetes sets for a service of our name are ignored', async (t) => {
  const env = {
    FLAKEFORGE_SERVER_SERVICE_HOST: '10.0.0.7',
    FLAKEFORGE_SERVER_SERVICE_PORT: '80',
    FLAKEFORGE_SERVER_SERVICE_PORT_HTTP: '80',
    FLAKEFORGE_SERVER_PORT: 'tcp://10.0.0.7:80',
    FLAKEFORGE_SERVER_PORT_80_TCP: 'tcp://10.0.0.7:80',
    FLAKEFORGE_SERVER_PORT_80_TCP_ADDR: '10.0.0.7',
    FLAKEFORGE_SERVER_METRICS_PORT: 'tcp://10.0.0.8:9090',
    FLAKEFORGE_SERVER_METRICS_SERVICE_HOST: '10.0.0.8',
    FLAKEFORGE_SERVER_RATE: '',
    FLAKEFORGE_SERVICE_HOST: '10.0.0.9',
    FLAKEFORGE_PORT: 'tcp://10.0.0.9:80',
    FLAKEFORGE_STORE_PORT_6379_TCP_PROTO: 'tcp',
  }
  const { port, 'metrics-port': metricsPort, rate } = await read([], env)
  t.deepEqual([port, metricsPort, rate], [8080, undefined, 0])
})

test('node numbers for generators next to the server are ignored without an error', async (t) => {
  const env = { FLAKEFORGE_ID: '3', FLAKEFORGE_WORKER: '3', FLAKEFORGE_DATACENTER: '1', FLAKEFORGE_SHARD: '9' }
  t.is((await read([], env)).entries.length, 1)
})

test('variables of the clients next to the server are ignored without an error', async (t) => {
  const env = { FLAKEFORGE_TOKEN: 'abc', FLAKEFORGE_CA: 'ca.crt', FLAKEFORGE_CERT: 'a.crt', FLAKEFORGE_KEY: 'a.key' }
  t.is((await read([], env)).entries.length, 1)
})

test('messages name the source of an option', async (t) => {
  const file = fileOf({ host: 'a' })
  const from = async (...given) => (await read(...given)).givenAs('host')
  t.deepEqual(await from(['--config', file]), `host in ${file}`)
  t.deepEqual(await from(['--config', file], { FLAKEFORGE_SERVER_HOST: 'b' }), 'FLAKEFORGE_SERVER_HOST')
  t.deepEqual(await from(['--config', file, '--host', 'c'], { FLAKEFORGE_SERVER_HOST: 'b' }), '--host')
})

test('a socket replaces the port, unless a source of higher precedence has one', async (t) => {
  const file = fileOf({ socket: '/tmp/a' })
  t.is((await read(['--config', file])).socket, '/tmp/a')
  t.is((await read(['--config', file], { FLAKEFORGE_SERVER_HOST: '::1' })).socket, undefined)
  t.is((await read(['--config', file, '--port', '80'])).socket, undefined)
  t.is((await read(['--socket', '/tmp/b'], { FLAKEFORGE_SERVER_HOST: '::1' })).socket, '/tmp/b')
})

test('variables that others set for any program open no port: HOST counts for nothing, and PORT is a number only', async (t) => {
  t.like(await read([], { HOST: '0.0.0.0', PORT: '80' }), { host: '127.0.0.1', port: 80 })
  const socket = { FLAKEFORGE_SERVER_SOCKET: '/tmp/a', PORT: '80' }
  t.is((await read([], socket)).socket, '/tmp/a')
  t.is((await read(['--config', fileOf({ socket: '/tmp/a' })], { PORT: '80' })).socket, '/tmp/a')
})

test('the port of metrics stays on this machine, wherever the other one is', async (t) => {
  const where = async (...args) => (await read(['--metrics-port', '9090', ...args])).listeners.metrics.at
  t.like(await where('--host', '0.0.0.0'), { host: '127.0.0.1', port: 9090 })
  t.like(await where('--socket', '/tmp/a'), { host: '127.0.0.1', port: 9090 })
  t.like(await where('--metrics-host', '0.0.0.0'), { host: '0.0.0.0', port: 9090 })
})

const TOKEN = 'abcdefghijklmnop'

test('tokens: one per line, with comments, of at least 16 characters', async (t) => {
  const file = fileOf(`\uFEFF# ours\n${TOKEN}\r\n\n  ${TOKEN}2  \n#${TOKEN}3\n`)
  t.deepEqual((await read(['--token-file', file])).tokens, [TOKEN, `${TOKEN}2`])
})

/** Mistakes: the arguments and environment, or the content of a file, and the message. */
const WRONG = {
  'an unknown option': [['--prot', '1'], {}, /^Unknown option '--prot'\. Did you mean --port\?$/],
  'an operand': [['8080'], {}, /takes options only, not '8080'/],
  'no value': [['--port'], {}, /^--port needs a value: --port N\.$/],
  'an option in place of a value': [['--store', '--port', '1'], {}, /^--store needs a value/],
  'an option twice': [['--port', '1', '--port', '2'], {}, /^--port was given twice/],
  'a value for a switch': [['--help=1'], {}, /^--help takes no value/],
  'a port that is not a number': [['--port', '80a'], {}, /^--port must be an integer from 0 to 65535, not '80a'\.$/],
  'a port that is too large': [[], { PORT: '65536' }, /^PORT must be an integer from 0 to 65535, not '65536'\.$/],
  'a negative number': [['--rate=-1'], {}, /^--rate must be an integer from 0/],
  'an unknown value of a choice': [['--log', 'all'], {}, /^--log must be one of none, errors, requests, not 'all'\.$/],
  'an unknown variable': [
    [],
    { FLAKEFORGE_SERVER_TOKEN_FLIE: 'x' },
    /^Unknown variable FLAKEFORGE_SERVER_TOKEN_FLIE\. Did you mean FLAKEFORGE_SERVER_TOKEN_FILE\?$/,
  ],
  'a variable whose common prefix is misspelt': [
    [],
    { FLAKEFORGE_SERVR_TOKEN_FILE: 'x' },
    /^Unknown variable FLAKEFORGE_SERVR_TOKEN_FILE\. Did you mean FLAKEFORGE_SERVER_TOKEN_FILE\?$/,
  ],
  'a variable of another program': [
    [],
    { FLAKEFORGE_WORKER_ID: '3' },
    /^Unknown variable FLAKEFORGE_WORKER_ID\. The known ones are /,
  ],
  'a misspelt variable that looks like one of Kubernetes': [
    [],
    { FLAKEFORGE_SERVER_METRIC_PORT: '9090' },
    /^Unknown variable FLAKEFORGE_SERVER_METRIC_PORT\. Did you mean FLAKEFORGE_SERVER_METRICS_PORT\?$/,
  ],
  'a port under the name that Kubernetes has for its link': [
    [],
    { FLAKEFORGE_SERVER_PORT: '18099' },
    /^Unknown variable FLAKEFORGE_SERVER_PORT\. Did you mean PORT\?$/,
  ],
  'tokens for a port of metrics that is not there': [
    ['--metrics-token-file', '/nothing'],
    {},
    /^metrics-token-file needs metrics-port\.$/,
  ],
  'a variable without the common prefix': [
    [],
    { FLAKEFORGE_TOKEN_FILE: 'tokens' },
    /^Unknown variable FLAKEFORGE_TOKEN_FILE\. Did you mean FLAKEFORGE_SERVER_TOKEN_FILE\?$/,
  ],
  'a name twice': [['--name', 'a', '--name', 'a'], {}, /--name a was given twice/],
  'an empty name': [['--name', ''], {}, /^'' is not a name of 1 to 128/],
  'a name that URLs drop': [['--name', '..'], {}, /neither \. nor \.\./],
  'an unknown layout': [['--layout', 'twiter'], {}, /^Name 'default': .*twitter/],
  'a layout that is not JSON': [['--layout', '{a}'], {}, /^--layout is not JSON: /],
  'a socket and a port': [['--socket', '/tmp/a', '--port', '1'], {}, /a socket or on a port/],
  'a certificate without key': [['--tls-cert', '/nothing'], {}, /tls-cert and tls-key need each other/],
  'a CA without certificate': [['--tls-ca', '/nothing'], {}, /tls-ca needs/],
  'a missing file': [['--config', '/nothing'], {}, /^The configuration \/nothing cannot be read: ENOENT/],
  'a missing token file': [
    ['--token-file', '/nothing'],
    {},
    /^The token file \/nothing cannot be read: ENOENT.*\(umask 077; openssl rand -hex 32 > \/nothing\)$/,
  ],
  'an origin with a path': [
    ['--cors', 'https://a.example/x'],
    {},
    /^--cors must be an origin.*, not 'https:\/\/a\.example\/x'\.$/,
  ],
  'a proxy that is not an address': [
    [],
    { FLAKEFORGE_SERVER_TRUST_PROXY: '10.0.0.1, foo' },
    /^FLAKEFORGE_SERVER_TRUST_PROXY must be an address such as .*, not 'foo'\.$/,
  ],
  'a range that is too long': [
    ['--trust-proxy', '10.0.0.0/33'],
    {},
    /^--trust-proxy must be .*, not '10\.0\.0\.0\/33'\.$/,
  ],
  'a host with a port': [['--allow-host', 'ids.example:80'], {}, /^--allow-host must be a name or an address without/],
}

for (const [what, [args, env, message]] of Object.entries(WRONG)) {
  test(`an error: ${what}`, async (t) => {
    await t.throwsAsync(async () => read(args, env), { instanceOf: ConfigError, message })
  })
}

const WRONG_FILES = {
  'no JSON': ['{', /^.+ is not JSON: /],
  'an array': [[], /must have an object, .* not \[\]\.$/],
  'an unknown key': [{ prot: 1 }, /^Unknown key 'prot' in .*\. Did you mean 'port'\?$/],
  'a key of the command line only': [{ name: 'a' }, /^Unknown key 'name' in .*\. Did you mean 'names'\?$/],
  'a port as text with letters': [{ port: 'x' }, /^port in .* must be an integer/],
  'a fraction': [{ port: 1.5 }, /^port in .* must be an integer/],
  'no names': [{ names: {} }, /^names is empty/],
  'names that are not an object': [{ names: ['a'] }, /^names must be an object/],
  'a name that is not an object': [{ names: { a: 'b' } }, /^Name 'a' must have an object of options, not 'b'/],
  'an unknown option of a group': [{ names: { a: { ttlMS: 1 } } }, /^Name 'a': .*ttlMs/],
  'a bad option of a group': [{ names: { a: { ttlMs: 1 } } }, /^Name 'a': ttlMs must be an integer from 2000/],
  'a fixed node number': [{ names: { a: { id: 1 } } }, /^Name 'a': .*the slot determines the node number/],
  'a hop to other servers': [
    { names: { a: { elseFrom: 'http://b' } } },
    /^Name 'a': elseFrom cannot be used in a server\. A server returns only IDs that it generates itself/,
  ],
  'a wait that blocks': [
    { names: { a: { maxWaitMs: 5 } } },
    /^Name 'a': maxWaitMs cannot be used in a server\. A server never blocks/,
  ],
  'an unknown option of a segment': [
    { names: { a: { segment: 's', blok: 1 } } },
    /^Unknown option 'blok' of segment 'a'\. Did you mean 'block'\?$/,
  ],
  'a bad option of a segment': [
    { names: { a: { segment: 's', block: 0 } } },
    /^Name 'a': block must be an integer from 1/,
  ],
  'a segment without a name': [{ names: { a: { segment: '' } } }, /^Name 'a': name must be/],
  'a number that was rounded': [
    { names: { a: { segment: 's', init: 2 ** 60 } } },
    /^Name 'a': init must be an integer, as text/,
  ],
  'a store that is not an address': [{ names: { a: { store: 5 } } }, /^Name 'a': store must be an address, not 5/],
}

for (const [what, [content, message]] of Object.entries(WRONG_FILES)) {
  test(`an error in the file: ${what}`, async (t) => {
    await t.throwsAsync(async () => readFile(content), { instanceOf: ConfigError, message })
  })
}

test('names are given in one place only', async (t) => {
  const file = fileOf({ names: { a: {} } })
  await t.throwsAsync(read(['--config', file, '--name', 'b']), { message: /Leave out --name/ })
  await t.throwsAsync(read(['--config', file, '--layout', 'flake']), { message: /Leave out --layout/ })
})

const WRONG_TOKENS = {
  'too short': [`${TOKEN}\nshort`, /line 2: a token has 16 characters or more, not 5\.$/],
  'with a space': ['abcdefgh ijklmnop', /line 1: a token has letters, digits/],
  none: ['# nothing\n', /has no token/],
}

for (const [what, [content, message]] of Object.entries(WRONG_TOKENS)) {
  test(`an error in the token file: ${what}`, async (t) => {
    const error = await t.throwsAsync(read(['--token-file', fileOf(content)]), { instanceOf: ConfigError, message })
    t.false(/short$|abcdefgh/.test(error.message), 'no message shows a token')
  })
}

test('the advice for a missing token file makes one that is accepted', async (t) => {
  const file = join(folder, 'made')
  const { message } = await t.throwsAsync(read(['--token-file', file]))
  execFileSync('sh', ['-c', /\(umask .*\)$/.exec(message)[0]])
  t.regex((await read(['--token-file', file])).tokens[0], /^[0-9a-f]{64}$/)
})

const onUnix = isWindows ? test.skip : test
const asRoot = isRoot ? test : test.skip

/** Every option that names a file with a secret, as arguments. */
const SECRETS = {
  'token file': (file) => ['--token-file', file],
  'token file of the metrics': (file) => ['--metrics-port', '0', '--metrics-token-file', file],
  'tls-key': (file) => ['--tls-cert', fileOf('-'), '--tls-key', file],
  configuration: (file) => ['--config', file],
}
const PASSWORD = JSON.stringify({ store: 'redis://:a-password@localhost' })

for (const [what, argsOf] of Object.entries(SECRETS)) {
  onUnix(`a ${what} that other users can read or change is refused`, async (t) => {
    const file = fileOf(what === 'configuration' ? PASSWORD : `${TOKEN}\n`)
    const refusal = async (mode) => {
      chmodSync(file, mode)
      const error = await read(argsOf(file)).then(
        () => undefined,
        (each) => each,
      )
      return /open to other users: its mode is (\d+)\. Use: chmod 600 (.+)$/.exec(error?.message ?? '')?.slice(1)
    }
    for (const mode of [0o604, 0o644, 0o602, 0o666, 0o620, 0o601])
      t.deepEqual(await refusal(mode), [mode.toString(8).padStart(4, '0'), file])
    for (const mode of [0o400, 0o600, 0o700]) t.is(await refusal(mode), undefined, mode.toString(8))
    // A group may read what root gave to it, as Kubernetes does with fsGroup.
    t.is((await refusal(0o440)) === undefined, isRoot)
  })
}

onUnix('a password in a configuration is found in every spelling of it', async (t) => {
  for (const text of [
    String.raw`{ "store": "redis:\/\/:a-password@localhost" }`,
    String.raw`{ "store": "redis\u003a//:a-password\u0040localhost" }`,
    JSON.stringify({ store: 'postgres://u@localhost/ids?password=a-password' }),
    JSON.stringify({ names: { a: { store: 'mysql://u:a-password@localhost/ids' } } }),
  ]) {
    const file = fileOf(text)
    chmodSync(file, 0o644)
    await t.throwsAsync(read(['--config', file]), { message: /open to other users/ }, text)
  }
})

test('a configuration that is not JSON: no part of its passwords is shown', async (t) => {
  for (const text of [
    '{ "store": redis://:a-password@h }',
    "{ store: 'redis://:a-password@h' }",
    '{ "store": "redis://:a-password@h" x }',
    'a-password',
    '"a-password" x',
    '{ "store": "a-pass\nword" }',
  ]) {
    const error = await t.throwsAsync(read(['--config', fileOf(text)]), {
      instanceOf: ConfigError,
      message: /is not JSON: \S/,
    })
    t.notRegex(error.message.replace(/^.* is not JSON/, ''), /redis|:\/\/|a-p|word/, text)
  }
})

onUnix('a configuration without a password may be read by all', async (t) => {
  for (const store of ['redis://localhost', 'postgres://app@localhost/ids?sslmode=verify-full']) {
    const file = fileOf({ store, names: { a: {} } })
    chmodSync(file, 0o644)
    t.is((await read(['--config', file])).entries[0].name, 'a')
  }
})

asRoot('a token file of another user is refused: that user could replace it', async (t) => {
  const file = fileOf(`${TOKEN}\n`)
  chownSync(file, 12_345, 12_345)
  await t.throwsAsync(read(['--token-file', file]), { message: /belongs to another user \(uid 12345\).*Use: chown 0 / })
})

onUnix('a token file that is a FIFO is refused at once', async (t) => {
  const file = join(folder, 'fifo')
  execFileSync('mkfifo', ['-m', '600', file])
  await t.throwsAsync(read(['--token-file', file]), { instanceOf: ConfigError, message: /is not a regular file/ })
  await t.throwsAsync(read(['--token-file', folder]), { instanceOf: ConfigError, message: /is not a regular file/ })
})

// Docker and Kubernetes mount secrets like this. Mounts need rights that a test's machine may not have.
const canMount = isRoot && spawnSync('unshare', ['--mount', 'true']).status === 0
const withMounts = canMount ? test : test.skip

withMounts('in a container, a secret that is mounted read-only may be readable by all', (t) => {
  const program = join(import.meta.dirname, '..', '..', 'packages', 'server', 'dist', 'flakeforge-server.mjs')
  const file = fileOf('short\n') // the next error after that of its mode
  chmodSync(file, 0o644)
  chownSync(file, 12_345, 12_345)
  const refusal = (how, env) => {
    const script = `mount --bind ${file} ${file} && mount -o remount,bind,${how} ${file} && exec "$@"`
    const args = ['--mount', 'sh', '-c', script, 'sh', process.execPath, ...env, program, '--token-file', file]
    const { FLAKEFORGE_REQUIRE_SERVERS: _, ...others } = process.env // the server refuses variables of tests
    return spawnSync('unshare', args, { encoding: 'utf8', env: { ...others, container: 'docker' } }).stderr
  }
  t.regex(refusal('ro', []), /a token has 16 characters or more, not 5/)
  t.regex(refusal('rw', []), /belongs to another user/)
  const outside = ['--require', join(import.meta.dirname, '..', 'workers', 'not-in-a-container.cjs')]
  t.regex(refusal('ro', outside), /belongs to another user/)
})
