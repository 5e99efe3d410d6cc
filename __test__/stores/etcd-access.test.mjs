// Ways into etcd: URLs and options, users and tokens, TLS.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { request } from 'node:https'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, promisify } from 'node:util'
import anyTest from 'ava'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { freshFolder, stopAfter } from '../servers/server.mjs'
import { newOwner } from '../support/records.mjs'
import { openGroup, works } from '../support/steps.mjs'
import { gate, once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { etcdStore, openEtcd } = require('../../target/rooms/lib/stores/etcd.js')
const { parseUrl } = require('../../target/rooms/lib/stores/etcd/options.js')

const run = promisify(execFile)
const test = wantEtcd() === undefined ? anyTest.skip : anyTest.serial

const URLS = [
  ['etcd://one', { endpoints: ['http://one:2379'] }],
  ['etcd://one:1,two/', { endpoints: ['http://one:1', 'http://two:2379'] }],
  ['etcd://[::1]:3,[::2]/', { endpoints: ['http://[::1]:3', 'http://[::2]:2379'] }],
  ['etcds://one', { endpoints: ['https://one:2379'] }],
  ['etcd://one,two?tls=true', { endpoints: ['https://one:2379', 'https://two:2379'] }],
  ['etcd://one/?tls=false', { endpoints: ['http://one:2379'] }],
  ['etcd://me:p%40ss:word@one', { endpoints: ['http://one:2379'], username: 'me', password: 'p@ss:word' }],
]

for (const [url, options] of URLS) {
  anyTest(`${url} is ${options.endpoints.join(' and ')}`, (t) => t.deepEqual(parseUrl(url), options))
}

// biome-ignore format: one kind a line
const BAD_URLS = [
  'etcd://', 'etcd:one', 'http://one', 'etcd://a:b@', 'etcd://a:100%@one',
  'etcd://one/orders', 'etcd://one?tls=yes',
]

for (const url of BAD_URLS) {
  anyTest(`${url} is not a URL of an etcd`, (t) => {
    t.throws(() => openEtcd(url), { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError, message: /etcd:\/\/\[user/ })
  })
}

anyTest('no message shows a password', (t) => {
  for (const call of [
    () => openEtcd('etcd://me:secret@one/orders'),
    () => openEtcd('etcd://me:secret%@one'),
    () => etcdStore({ endpoints: 'http://me:secret@one:2379' }),
    () => etcdStore('http://me:secret@one:2379'),
    () => etcdStore({ endpoints: 'http://one:2379', username: 'me', passwort: 'secret' }),
    () => etcdStore({ endpoints: 'http://one:2379', username: 'me', password: ['secret'] }),
    () => etcdStore({ endpoints: 'http://one:2379', password: 'secret' }),
  ]) {
    const error = t.throws(call, { code: 'ERR_FLAKE_OPTION' })
    t.false(error.message.includes('secret') || String(error.value).includes('secret'), error.message)
  }
})

for (const endpoints of [undefined, [], '', 'one:2379', ['http://one:2379', 7], 'ftp://one', 'http://one/path']) {
  anyTest(`${JSON.stringify(endpoints)} are not endpoints`, (t) => {
    t.throws(() => etcdStore({ endpoints }), { code: 'ERR_FLAKE_OPTION', message: /^endpoints must be/ })
  })
}

const BAD_OPTIONS = [
  ['options', 5],
  ['options', 'http://one:2379'],
  ['options', ['http://one:2379']],
  ['endpoints', undefined],
  ['endpoints', null],
  ['endpoint', { endpoint: 'http://one:2379' }],
  ['ca', { endpoints: 'http://one:2379', ca: Buffer.from('pem') }],
  ['username', { endpoints: 'http://one:2379', username: 5, password: 'p' }],
  ['username', { endpoints: 'http://one:2379', password: 'p' }],
  ['password', { endpoints: 'http://one:2379', username: 'me' }],
  ['password', { endpoints: 'http://one:2379', username: 'me', password: 5 }],
  ['fetch', { endpoints: 'http://one:2379', fetch: 5 }],
]

for (const [option, options] of BAD_OPTIONS) {
  anyTest(`etcdStore(${JSON.stringify(options)}) is an error that names ${option}`, (t) => {
    const error = t.throws(() => etcdStore(options), { code: 'ERR_FLAKE_OPTION', instanceOf: TypeError })
    t.is(error.option, option)
    t.true(error.message.includes(option))
  })
}

anyTest('absent options behave as if they were not there', (t) => {
  t.notThrows(() => etcdStore({ endpoints: 'http://one:2379', username: null, password: undefined, fetch: null }))
})

/** A server with authentication on, where user `app` has the rights that the documentation names. */
async function withUsers(t, ...options) {
  const server = stopAfter(t, await startEtcd({ options }))
  await server.ctl('role', 'add', 'flakeforge')
  await server.ctl('role', 'grant-permission', 'flakeforge', 'readwrite', '--prefix', 'flakeforge/')
  for (const [user, role] of [
    ['root', 'root'],
    ['app', 'flakeforge'],
  ]) {
    if (role === 'root') await server.ctl('role', 'add', 'root')
    await server.ctl('user', 'add', `${user}:pass of ${user}`)
    await server.ctl('user', 'grant-role', user, role)
  }
  const allow = () => server.ctl('auth', 'enable')
  const asRoot = (...words) => server.ctl('--user', 'root:pass of root', ...words)
  return { server, allow, asRoot, options: { endpoints: server.url, username: 'app', password: 'pass of app' } }
}

/** A `fetch` that counts the calls for a token. */
function countTokens() {
  const counting = async (url, options) => {
    if (url.endsWith('/authenticate')) counting.tokens++
    return fetch(url, options)
  }
  counting.tokens = 0
  return counting
}

test('a user with rights on the prefix alone may do every step, with one token', async (t) => {
  const { server, allow, asRoot, options } = await withUsers(t)
  await allow()
  const counting = countTokens()
  await works(t, etcdStore({ ...options, fetch: counting }))
  t.is(counting.tokens, 1)
  t.is(await asRoot('lease', 'list'), 'found 0 leases')
  const url = `etcd://app:pass%20of%20app@127.0.0.1:${server.port}`
  await works(t, openEtcd(url))
})

test('no user, or a wrong password, is an error that says so', async (t) => {
  const { allow, options } = await withUsers(t)
  await allow()
  const refused = (message) => ({ code: 'ERR_FLAKE_STORE', message })
  await t.throwsAsync(etcdStore({ endpoints: options.endpoints }).list('g'), refused(/user name is empty/))
  await t.throwsAsync(etcdStore({ ...options, password: 'no' }).list('g'), refused(/authentication failed/))
})

test('an expired token is renewed, once for many calls', async (t) => {
  const { allow, options } = await withUsers(t, '--auth-token-ttl', '1')
  await allow()
  const counting = countTokens()
  const store = etcdStore({ ...options, fetch: counting })
  await store.advance('c', 1n, 0n)
  t.is(counting.tokens, 1)
  let isOut = false
  while (!isOut) {
    await new Promise((resolve) => setTimeout(resolve, 2500)) // longer than the ttl and the sweep of old tokens
    const before = counting.tokens
    await Promise.all(Array.from({ length: 8 }, () => store.advance('c', 1n, 0n)))
    isOut = counting.tokens > before
    t.true(counting.tokens <= before + 1)
  }
  t.is((await store.advance('c', 1n, 0n)).number % 8n, 1n)
})

test('an etcd that closes the connection at an old token gets a request for a new one', async (t) => {
  const { allow, options } = await withUsers(t)
  await allow()
  const counting = countTokens()
  const old = new Set()
  const closing = async (url, given) => {
    const { authorization } = given.headers
    if (old.has(authorization)) throw new TypeError('fetch failed', { cause: new Error('other side closed') })
    const answer = await counting(url, given)
    if (authorization !== undefined && old.size === 0) old.add(authorization) // it works once
    return answer
  }
  const store = etcdStore({ ...options, fetch: closing })
  await store.list('g')
  t.is(counting.tokens, 1)
  await store.list('g')
  t.is(counting.tokens, 2)
})

test('a role that may only read: the first write ends the step, with the way out', async (t) => {
  const { server, allow, options } = await withUsers(t)
  await server.ctl('role', 'revoke-permission', 'flakeforge', '--prefix', 'flakeforge/')
  await server.ctl('role', 'grant-permission', 'flakeforge', 'read', '--prefix', 'flakeforge/')
  await allow()
  let swaps = 0
  const counting = (url, given) => {
    swaps += given.body.includes('request_put') ? 1 : 0
    return fetch(url, given)
  }
  const step = etcdStore({ ...options, fetch: counting }).advance('c', 1n, 0n)
  await t.throwsAsync(step, {
    code: 'ERR_FLAKE_STORE',
    message: /permission denied.*readwrite on the prefix flakeforge/,
  })
  t.is(swaps, 1)
})

test('place() names the endpoints and the prefix, without the password', async (t) => {
  const { options } = await withUsers(t)
  const place = await etcdStore(options).place()
  t.true(
    place.includes(options.endpoints) && place.includes('flakeforge/records/') && !place.includes('pass of'),
    place,
  )
})

test('a call whose token was rejected takes the one that another call got meanwhile', async (t) => {
  const { allow, options } = await withUsers(t)
  await allow()
  const counting = countTokens()
  const spoilt = []
  let isFirstDone
  async function spoiling(url, { headers, ...more }) {
    const isSpoilt = url.endsWith('/txn') && spoilt.length < 2
    if (!isSpoilt) return counting(url, { headers, ...more })
    const turn = spoilt.push(url)
    const refusal = await counting(url, { headers: { ...headers, authorization: 'spoilt' }, ...more })
    if (turn === 2) await isFirstDone
    return refusal
  }
  const store = etcdStore({ ...options, fetch: spoiling })
  const first = store.list('g')
  isFirstDone = first
  await Promise.all([first, store.list('g')])
  t.is(counting.tokens, 2)
})

test('a call whose token was rejected waits for the new one, if the connection of another call was closed meanwhile', async (t) => {
  const { allow, options } = await withUsers(t)
  await allow()
  const counting = countTokens()
  const [askedAgain, rejected] = [gate(), gate()]
  let txns = 0
  async function spoiling(url, { headers, ...more }) {
    if (url.endsWith('/authenticate') && counting.tokens === 1) {
      askedAgain.open()
      await rejected.promise
    }
    const turn = url.endsWith('/txn') ? ++txns : 0
    t.is(headers.authorization === undefined, turn === 0)
    if (turn === 1) throw new TypeError('fetch failed', { cause: new Error('other side closed') })
    if (turn !== 2) return counting(url, { headers, ...more })
    await askedAgain.promise
    const refusal = await counting(url, { headers: { ...headers, authorization: 'spoilt' }, ...more })
    setTimeout(rejected.open, 100) // once the store has read it
    return refusal
  }
  const store = etcdStore({ ...options, fetch: spoiling })
  t.deepEqual(await Promise.all([store.list('g'), store.list('g')]), [[], []])
  t.is(counting.tokens, 2)
})

test('authentication switched on, users changed, a restart: the running store continues', async (t) => {
  const { server, allow, asRoot, options } = await withUsers(t)
  const store = etcdStore(options)
  const steps = await openGroup(store, 'orders')
  const owner = newOwner()
  const grant = await steps.acquire({ owner })
  const renew = () => steps.renew(grant.slot, owner)
  t.is((await renew()).lo, grant.lo, 'no authentication yet')
  await allow()
  t.like(await renew(), { slot: grant.slot })
  await asRoot('user', 'add', 'another:pass')
  t.like(await renew(), { slot: grant.slot }, 'tokens of an older revision of users')
  await server.kill()
  server.ctlOptions = ['--user', 'root:pass of root']
  await server.start()
  t.like(await renew(), { slot: grant.slot }, 'tokens are in memory')
  await asRoot('auth', 'disable')
  t.like(await renew(), { slot: grant.slot })
})

/** A server with a certificate from its own authority. */
async function withTls(t) {
  const folder = await freshFolder('etcd-tls')
  t.teardown(() => rm(folder, { recursive: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=flakeforge test', '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-keyout', key, '-out', cert]
  const made = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ')
  await run('openssl', [...made, ...files, ...subject])
  const options = ['--cert-file', cert, '--key-file', key]
  const server = stopAfter(t, await startEtcd({ scheme: 'https', options, ctlOptions: ['--cacert', cert] }))
  return { server, cert }
}

test('TLS: a private authority by NODE_EXTRA_CA_CERTS', async (t) => {
  const { server, cert } = await withTls(t)
  const url = `etcds://127.0.0.1:${server.port}`
  const store = fileURLToPath(new URL('../../target/rooms/lib/stores/etcd.js', import.meta.url))
  const program = `require(${JSON.stringify(store)}).openEtcd('${url}').advance('c', 2n, 41n).then(({ number }) => console.log(String(number)))`
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: cert }
  t.is((await run(process.execPath, ['-e', program], { env })).stdout, '41\n')
  await t.throwsAsync(openEtcd(url).advance('c', 2n, 0n), { code: 'ERR_FLAKE_STORE', message: /self.signed/ })
})

/** A `fetch` over node:https, as a user with a private authority or a client certificate would write it. */
function httpsFetch(ca) {
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const call = request(url, { method, headers, signal, ca }, (response) => {
        const chunks = []
        response.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
        response.on('end', () => {
          resolve(new Response(Buffer.concat(chunks), { status: response.statusCode, headers: response.headers }))
        })
      })
      call.on('error', reject).end(body)
    })
}

test("TLS: a private authority by the user's fetch", async (t) => {
  const { server, cert } = await withTls(t)
  await works(t, etcdStore({ endpoints: server.url, fetch: httpsFetch(readFileSync(cert)) }))
})

anyTest('an etcd that never answers: the error of the step names its endpoints', async (t) => {
  const fetch = async (_, { signal }) => {
    await once(signal, 'abort')
    throw signal.reason
  }
  const store = etcdStore({ endpoints: ['http://one:1', 'http://two:2', 'http://three:3'], fetch })
  await t.throwsAsync(store.has('g'), {
    code: 'ERR_FLAKE_STORE',
    message: /^etcd does not answer at http:\/\/one:1, http:\/\/two:2, http:\/\/three:3: /,
  })
})

/** A server of HTTP on loopback, as an address of etcd. */
async function fakeEtcd(t, answer) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `127.0.0.1:${server.address().port}`
}

anyTest('a redirect is not followed: the password reaches no other server', async (t) => {
  const got = []
  const elsewhere = await fakeEtcd(t, (request, response) => {
    got.push(request.url)
    response.end('{"token":"t"}')
  })
  const named = await fakeEtcd(t, (request, response) =>
    response.writeHead(307, { location: `http://${elsewhere}${request.url}` }).end(),
  )
  const store = openEtcd(`etcd://user:s3cretpass@${named}`)
  const error = await t.throwsAsync(store.list('g'), { code: 'ERR_FLAKE_STORE' })
  t.regex(error.message, /HTTP 307 is a redirect, which is not followed\. Use the address that it leads to/)
  t.false(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }).includes('s3cretpass'))
  t.deepEqual(got, [])
})

anyTest('a server that repeats a request: its token and password are not shown', async (t) => {
  const named = await fakeEtcd(t, (request, response) => {
    if (request.url === '/v3/auth/authenticate')
      return response.setHeader('date', new Date().toUTCString()).end('{"token":"t0ken.of.etcd"}')
    response.writeHead(502).end(`<pre>${request.headers.authorization} of s3cretpass</pre>`)
  })
  const store = openEtcd(`etcd://user:s3cretpass@${named}`)
  const error = await t.throwsAsync(store.list('g'), { code: 'ERR_FLAKE_STORE' })
  t.regex(error.message, /: <pre>… of …<\/pre>/)
  t.notRegex(inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true }), /s3cretpass|t0ken/)
})

anyTest('an answer without end is given up', async (t) => {
  const part = Buffer.alloc(2 ** 20, 32)
  const named = await fakeEtcd(t, (request, response) => {
    request.resume()
    const write = () => {
      while (!response.destroyed && response.write(part));
    }
    response.on('drain', write).on('error', () => {})
    write()
  })
  const error = await t.throwsAsync(openEtcd(`etcd://${named}`).list('g'), { code: 'ERR_FLAKE_STORE' })
  t.regex(error.message, /HTTP 200 with more than 32 MiB/)
})
