// TLS to all databases, by the address and with each client package: a server whose certificate is not valid for the host of
// the address gets not a byte of what is sent after the handshake. The servers are only the TLS part of each database: what
// they would answer has no say in this. The last test is a real one.

import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, truncate, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import tls from 'node:tls'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { openStore } from 'flakeforge/lease'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { freePort, freshFolder, stopAfter, until } from '../servers/server.mjs'
import { makeCertificate, makeExpired, openssl, withOpenssl } from '../support/certificates.mjs'
import { once } from '../support/waits.mjs'

const test = withOpenssl(anyTest.serial) // or the processes would keep each other from their time limits
const onRedis = wantRedis() === undefined ? anyTest.skip : test
const onMariadb = wantMysql() === undefined ? anyTest.skip : test
const CLIENT = new URL('./tls-client.mjs', import.meta.url).pathname

let folder
let ca
const certificates = {}

anyTest.before(async () => {
  if (openssl === undefined) return
  folder = await freshFolder('tls')
  ca = await makeCertificate(folder, 'ca')
  const make = (name, names, signer = ca) => makeCertificate(folder, name, signer, names)
  certificates.right = await make('right', 'DNS:localhost')
  certificates.ip = await make('ip', 'IP:127.0.0.1')
  certificates.other = await make('other', 'DNS:other.example,IP:127.0.0.2')
  certificates.expired = await makeExpired(folder, 'expired', ca, 'DNS:localhost')
  certificates.own = await makeCertificate(folder, 'own', undefined, 'DNS:localhost,IP:127.0.0.1')
})
anyTest.after.always(() => folder && rm(folder, { recursive: true, force: true }))

/** The greeting of a server as MariaDB 11.4 sends it, which can do TLS. */
function greeting() {
  const CAN = 0x00_08_aa_08 // protocol 4.1, TLS, secure passwords, plugins
  const parts = [
    Buffer.from('\x0a5.5.5-11.4.5-MariaDB\0', 'latin1'),
    Buffer.from([1, 0, 0, 0]),
    Buffer.from('12345678\0'),
    Buffer.from([CAN & 0xff, (CAN >> 8) & 0xff, 45, 2, 0, (CAN >> 16) & 0xff, 0, 21]),
    Buffer.alloc(10),
    Buffer.from('123456789012\0mysql_native_password\0'),
  ]
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([body.length, 0, 0, 0]), body])
}

const TLS_REQUEST_BYTES = 36

/** What a client sends first: some of them send nothing, and close. */
const firstBytes = (socket) => new Promise((resolve) => socket.once('data', resolve))

/** What a database does before the handshake; it resolves when the client's next byte belongs to TLS. */
const BEFORE = {
  none: async () => {},
  postgres: async (socket) => {
    await firstBytes(socket)
    socket.write('S')
  },
  mysql: async (socket) => {
    socket.write(greeting())
    const sent = await firstBytes(socket)
    socket.pause()
    socket.unshift(sent.subarray(TLS_REQUEST_BYTES)) // mariadb does not wait for an answer
  },
}

/** A server of one kind with one certificate, which counts the bytes that it gets over TLS. */
async function startEndpoint(t, kind, { key, cert }) {
  const found = { bytes: 0, names: [] }
  const context = { key: readFileSync(key), cert: readFileSync(cert) }
  const server = net.createServer(async (socket) => {
    socket.on('error', () => {})
    await BEFORE[kind](socket)
    const secure = new tls.TLSSocket(socket, { isServer: true, ...context })
    secure.on('error', () => {})
    secure.on('data', ({ length }) => {
      found.bytes += length
      found.names.push(secure.servername)
      socket.destroy()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  return { found, port: server.address().port }
}

/** The errors of these clients for their addresses, in a process that trusts the CA. */
const open = (...clients) => openIn({}, ...clients)

/** The same with these variables. */
async function openIn(variables, ...clients) {
  const { stdout } = await promisify(execFile)(process.execPath, [CLIENT, JSON.stringify(clients)], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: ca.cert, PGSSLMODE: undefined, ...variables },
  })
  return JSON.parse(stdout)
}

/** Each client with its addresses, for a server at this host and port. */
const CLIENTS = [
  ...['ioredis', 'iovalkey', 'redis'].flatMap((name) => [
    ['none', name, (at) => `rediss://u:p@${at}`],
    ['none', name, (at) => `rediss-sentinel://u:p@${at}#primary`],
    ['none', name, (at) => `rediss-cluster://u:p@${at}`],
  ]),
  ['none', 'fetch', (at) => `etcds://u:p@${at}`],
  ['none', 'fetch', (at) => `etcd://u:p@${at}?tls=true`],
  ...['pg', 'postgres'].flatMap((name) =>
    ['ssl=true', 'sslmode=require', 'sslmode=verify-full'].map((form) => [
      'postgres',
      name,
      (at) => `postgres://u:p@${at}/d?${form}`,
    ]),
  ),
  ...['mysql2', 'mariadb'].flatMap((name) =>
    ['ssl=true', 'sslmode=verify-full'].map((form) => ['mysql', name, (at) => `mysql://u:p@${at}/d?${form}`]),
  ),
]

/** By the certificate of the server and the host of the address: whether the client sends anything. */
const CASES = [
  ['right', 'localhost', true],
  ['ip', '127.0.0.1', true],
  ['own', 'localhost', false],
  ['own', '127.0.0.1', false],
  ['expired', 'localhost', false],
  ['other', 'localhost', false],
  ['other', '127.0.0.1', false],
  ['right', '127.0.0.1', false], // several packages check `localhost` for an IP address
  ['ip', 'localhost', false],
]

const REFUSES_IP = /mysql2 can't check the certificate of an IP address, and the package mariadb can/
const hasNoName = (name, url) => name !== 'redis' && url.startsWith('rediss-sentinel')

for (const [certificate, host, isTrusted] of CASES) {
  test(`a server at ${host} with the certificate '${certificate}' ${isTrusted ? 'is trusted' : 'gets nothing'}`, async (t) => {
    const endpoints = await Promise.all(CLIENTS.map(([kind]) => startEndpoint(t, kind, certificates[certificate])))
    const addresses = CLIENTS.map(([, name, urlOf], i) => [name, urlOf(`${host}:${endpoints[i].port}`)])
    const failures = await open(...addresses)
    for (const [i, [name, url]] of addresses.entries()) {
      const { bytes, names } = endpoints[i].found
      const isRefused = name === 'mysql2' && host === '127.0.0.1'
      if (isRefused) t.regex(failures[i], REFUSES_IP)
      t.is(bytes > 0, isTrusted && !isRefused, `${name} ${url}: ${bytes} bytes, ${failures[i]}`)
      if (bytes > 0 && host === 'localhost' && !hasNoName(name, url)) t.is(names[0], 'localhost', `${name} ${url}`)
    }
  })
}

test('the variable with which Node checks no certificate has no effect on databases', async (t) => {
  const clients = CLIENTS.filter(([, name]) => name !== 'fetch') // which has no option for it
  const endpoints = await Promise.all(clients.map(([kind]) => startEndpoint(t, kind, certificates.own)))
  const addresses = clients.map(([, name, urlOf], i) => [name, urlOf(`localhost:${endpoints[i].port}`)])
  await openIn({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, ...addresses)
  for (const [i, [name, url]] of addresses.entries()) t.is(endpoints[i].found.bytes, 0, `${name} ${url}`)
})

/** TLS in front of a server, which notes the names that clients want. */
async function startFront(t, port, { key, cert }) {
  const names = []
  const options = { key: readFileSync(key), cert: readFileSync(cert) }
  const front = tls.createServer(options, (socket) => {
    names.push(socket.servername)
    const behind = net.connect(port, '127.0.0.1')
    socket.pipe(behind).pipe(socket)
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ])
      one.on('error', () => {}).on('close', () => other.destroy())
  })
  front.on('tlsClientError', (_error, socket) => socket.destroy())
  await once(front.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => front.close())
  return { names, port: front.address().port }
}

/** By what the cluster calls its node, and the certificate there: whether a client uses the node. */
const NODES = [
  ['hostname', 'right', true],
  ['hostname', 'ip', false],
  ['ip', 'ip', true],
  ['ip', 'right', false],
]

onRedis('a node that a cluster names is told this name, and has a certificate for it, or gets nothing', async (t) => {
  const redis = stopAfter(t, await startRedis('--cluster-enabled', 'yes', '--cluster-port', String(await freePort())))
  await redis.cli('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  await redis.cli('CONFIG', 'SET', 'cluster-announce-hostname', 'localhost')
  await redis.cli('CONFIG', 'SET', 'cluster-announce-ip', '127.0.0.1')
  await until(async () => (await redis.cli('CLUSTER', 'INFO')).includes('cluster_state:ok'))
  const first = await startFront(t, redis.port, certificates.right)
  for (const [endpoint, certificate, isTrusted] of NODES) {
    const node = await startFront(t, redis.port, certificates[certificate])
    await redis.cli('CONFIG', 'SET', 'cluster-preferred-endpoint-type', endpoint)
    await redis.cli('CONFIG', 'SET', 'cluster-announce-port', String(node.port))
    await until(async () => (await redis.cli('CLUSTER', 'SLOTS')).includes(String(node.port)))
    for (const name of ['ioredis', 'iovalkey', 'redis']) {
      node.names.length = 0
      const [failure] = await open([name, `rediss-cluster://localhost:${first.port}`])
      const what = `${name}, ${endpoint}, ${certificate}: ${failure}`
      t.is(failure === null, isTrusted, what)
      if (isTrusted) t.deepEqual([...new Set(node.names)], [endpoint === 'ip' ? false : 'localhost'], what)
    }
  }
  t.deepEqual([...new Set(first.names)], ['localhost'])
})

test('no-verify sends to a server with any certificate, and files of the address are used', async (t) => {
  const { own, right } = certificates
  const cases = [
    [own, '127.0.0.1', 'sslmode=no-verify', true],
    [own, 'localhost', `sslrootcert=${own.cert}`, true],
    [right, 'localhost', `sslrootcert=${own.cert}`, false], // the named authorities replace the usual ones
    [right, 'localhost', `ssl=true&sslrootcert=${ca.cert}&sslcert=${own.cert}&sslkey=${own.key}`, true],
  ]
  const packages = ['pg postgres', 'postgres postgres', 'mysql2 mysql', 'mariadb mysql'].map((pair) => pair.split(' '))
  const all = packages.flatMap(([name, kind]) => cases.map((row) => [name, kind, ...row]))
  const endpoints = await Promise.all(all.map(([, kind, certificate]) => startEndpoint(t, kind, certificate)))
  const addressOf = ([, scheme, , host, query], { port }) => `${scheme}://u:p@${host}:${port}/d?${query}`
  const failures = await open(...all.map((row, i) => [row[0], addressOf(row, endpoints[i])]))
  for (const [i, [name, , , , query, sends]] of all.entries())
    t.is(endpoints[i].found.bytes > 0, sends, `${name} ${query}: ${failures[i]}`)
})

anyTest(
  'a file of an address that is missing, not a file or too large is named, and nothing waits for it',
  async (t) => {
    const place = await freshFolder('tls-files')
    t.teardown(() => rm(place, { recursive: true, force: true }))
    const [missing, large, pipe] = ['missing', 'large', 'pipe'].map((name) => join(place, name))
    await writeFile(large, '')
    await truncate(large, 2 ** 20 + 1)
    const faults = [
      [missing, 'cannot be read (ENOENT)'],
      [place, 'is not a regular file'],
      [large, 'has 1048577 bytes, and at most 1048576 are read'],
    ]
    if (process.platform !== 'win32') {
      spawnSync('mkfifo', [pipe])
      faults.push([pipe, 'is not a regular file'], ['/dev/zero', 'is not a regular file'])
    }
    for (const scheme of ['postgres', 'mysql']) {
      for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
        for (const [path, fault] of faults) {
          const error = t.throws(() => openStore(`${scheme}://u:secret@localhost/d?${name}=${path}`))
          t.is(error.code, 'ERR_FLAKE_OPTION')
          t.true(error.message.includes(`?${name}= names a readable file: ${path} ${fault}`), error.message)
          t.notRegex(error.message, /secret/)
        }
      }
    }
  },
)

onMariadb('a real MariaDB with a certificate of a private CA, with both packages', async (t) => {
  const [{ key, cert }, other] = [certificates.right, certificates.other]
  const server = stopAfter(t, await startMysql({ 'ssl-key': key, 'ssl-cert': cert }))
  await server.query("CREATE DATABASE d; CREATE USER u@'%' IDENTIFIED BY 'p' REQUIRE SSL; GRANT ALL ON d.* TO u@'%'")
  const url = `mysql://u:p@localhost:${server.port}/d?sslrootcert=${ca.cert}`
  t.deepEqual(
    await open(['mysql2', url], ['mariadb', url], ['mysql2', url.replace('localhost', '127.0.0.1')]).then((found) =>
      found.map((text) => text && REFUSES_IP.test(text)),
    ),
    [null, null, true],
  )
  const stranger = stopAfter(t, await startMysql({ 'ssl-key': other.key, 'ssl-cert': other.cert }))
  for (const failure of await open(
    ...['mysql2', 'mariadb'].map((name) => [name, url.replace(server.port, stranger.port)]),
  ))
    t.regex(failure, /does not match certificate's altnames|Hostname\/IP/)
})
