// HTTPS: which clients are served with which certificate, and what SIGHUP changes.

import { copyFile, readFile, rm } from 'node:fs/promises'
import https from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { freshFolder, stopAfter } from '../servers/server.mjs'
import { makeCertificate, withOpenssl } from '../support/certificates.mjs'
import { rawConnection } from '../support/service.mjs'
import { once, until } from '../support/waits.mjs'

const withTls = withOpenssl(anyTest.serial)

let folder

anyTest.before(async () => {
  folder = await freshFolder('tls')
})
anyTest.after.always(() => rm(folder, { recursive: true, force: true }))

withTls('TLS, and only clients with a certificate', async (t) => {
  const ca = await makeCertificate(folder, 'ca')
  const [own, client, stranger] = await Promise.all([
    makeCertificate(folder, 'server', ca),
    makeCertificate(folder, 'client', ca),
    makeCertificate(folder, 'stranger'),
  ])
  const args = ['--tls-cert', own.cert, '--tls-key', own.key, '--tls-ca', ca.cert, '--request-ms', '2000']
  const secure = await startServer({ args })
  t.regex(secure.url, /^https:/)
  const status = async (who) => {
    const files = who === undefined ? {} : { key: await readFile(who.key), cert: await readFile(who.cert) }
    const options = { method: 'POST', ca: await readFile(ca.cert), ...files, agent: false }
    return new Promise((resolve) => {
      const request = https.request(`${secure.url}/v1/ids/default`, options, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.once('error', (error) => resolve(error.code))
      request.end()
    })
  }
  t.is(await status(client), 200)
  t.regex(String(await status(undefined)), /^E/)
  t.regex(String(await status(stranger)), /^E/)
  const plain = rawConnection(secure.port)
  plain.send('POST /v1/ids/default HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await plain.closed
  t.is(await status(client), 200, 'and the others are still served')
  const silent = rawConnection(secure.port)
  await silent.connected
  await silent.closed // once the time for its handshake is over

  // A new certificate is used without a restart.
  const before = await readFile(own.cert, 'utf8')
  const renewed = await makeCertificate(folder, 'server', ca)
  t.not(await readFile(renewed.cert, 'utf8'), before)
  secure.child.kill('SIGHUP')
  await secure.told(/reloaded the files/)
  t.is(await status(client), 200)
  await secure.stop()
})

withTls(
  'a client that never ends its handshake loses its place when it leaves, and delays the end no longer than others',
  async (t) => {
    const own = await makeCertificate(folder, 'alone')
    const limits = ['--max-connections', '2', '--request-ms', '3600000', '--end-ms', '500']
    const secure = stopAfter(t, await startServer({ args: ['--tls-cert', own.cert, '--tls-key', own.key, ...limits] }))
    const begun = rawConnection(secure.port)
    begun.send('\x16\x03\x01')
    await begun.connected
    /** A connection, once there is a place. */
    const connected = async () => {
      for (;;) {
        const mute = rawConnection(secure.port)
        await mute.connected
        if (await Promise.race([mute.closed.then(() => false), sleep(100).then(() => true)])) return mute
      }
    }
    for (let i = 0; i < 3; i++) (await connected()).socket.end()
    const mute = await connected()
    secure.child.kill('SIGTERM')
    t.deepEqual(await secure.exit, [0, null])
    await Promise.all([mute.closed, begun.closed])
  },
)

/** The options of a client with this certificate, for a server whose certificate this CA signed. */
const optionsOf = async (port, ca, own) => ({
  host: '127.0.0.1',
  port,
  ca: await readFile(ca.cert),
  key: await readFile(own.key),
  cert: await readFile(own.cert),
})

/** The result of a request: its status, or the code of its error. */
const outcome = (options) =>
  new Promise((resolve) => {
    const request = https.request({ method: 'POST', path: '/v1/ids/default', ...options }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
    })
    request.once('error', ({ code }) => resolve(code)).end()
  })

withTls('another --tls-ca ends the connections of the old one: idle, in a handshake, resumed, waiting', async (t) => {
  const [ca, otherCa] = await Promise.all(['ca', 'other-ca'].map((name) => makeCertificate(folder, name)))
  const [own, client, other] = await Promise.all([
    makeCertificate(folder, 'server', ca),
    makeCertificate(folder, 'client', ca),
    makeCertificate(folder, 'other', otherCa),
  ])
  const clients = join(folder, 'clients.crt')
  await copyFile(ca.cert, clients)
  const slow = JSON.stringify({
    epoch: 0,
    tickMs: 100,
    fields: [
      ['timestamp', 40],
      ['node', 20],
      ['counter', 4],
    ],
  })
  const args = [
    '--tls-cert',
    own.cert,
    '--tls-key',
    own.key,
    '--tls-ca',
    clients,
    '--layout',
    slow,
    '--request-ms',
    '3600000',
  ]
  const server = stopAfter(t, await startServer({ args }))
  const old = await optionsOf(server.port, ca, client)

  const agent = new https.Agent({ keepAlive: true })
  t.is(await outcome({ ...old, agent }), 200)
  const resting = Object.values(agent.freeSockets)[0][0]
  const resumable = connect(old)
  const [session] = await once(resumable, 'session')
  const waiting = outcome({ ...old, agent: new https.Agent({ keepAlive: true }), path: '/v1/ids/default?n=200' })
  const begun = rawConnection(server.port) // which has not ended its handshake
  await begun.connected
  begun.send('\x16\x03\x01')
  await until(async () => /waiting 1$/m.test(await metricsOf(old)))

  const ended = [once(resting, 'close'), once(resumable, 'close'), begun.closed]
  server.child.kill('SIGHUP') // nothing has changed: nothing ends
  await server.told(/reloaded the files/)
  t.is(await outcome({ ...old, agent }), 200)
  t.false(resting.destroyed)

  await copyFile(otherCa.cert, clients)
  const told = server.warnings.length
  server.child.kill('SIGHUP')
  await server.told(/reloaded the files/, told)
  await Promise.all(ended)
  t.is(await waiting, 200, 'a request in progress gets its answer')
  for (const options of [{ agent }, { agent: false }, { agent: false, session }])
    t.regex(String(await outcome({ ...old, ...options })), /^E/)
  t.is(await outcome({ ...(await optionsOf(server.port, ca, other)), agent: false }), 200)
})

withTls('the port of metrics has the same certificate, and the same clients', async (t) => {
  const ca = await makeCertificate(folder, 'ca')
  const [own, client, stranger] = await Promise.all([
    makeCertificate(folder, 'server', ca),
    makeCertificate(folder, 'client', ca),
    makeCertificate(folder, 'stranger'),
  ])
  const args = ['--tls-cert', own.cert, '--tls-key', own.key, '--tls-ca', ca.cert, '--metrics-port', '0']
  const server = stopAfter(t, await startServer({ args }))
  const [, port] = /metrics are at https:\S+:(\d+)\//.exec(server.warnings.join('\n'))
  const get = { method: 'GET', path: '/metrics', agent: false }
  const options = { ...(await optionsOf(port, ca, client)), ...get }
  t.is(await outcome(options), 200)
  t.regex(String(await outcome({ ...options, ...(await optionsOf(port, ca, stranger)) })), /^E/)
  t.regex(String(await outcome({ ...options, key: undefined, cert: undefined })), /^E/)
  const plain = rawConnection(port)
  plain.send('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await plain.closed
  t.is(plain.text(), '')

  const serial = async () => {
    const socket = connect({ ...options, path: undefined })
    await once(socket, 'secureConnect')
    const { serialNumber } = socket.getPeerCertificate()
    socket.destroy()
    return serialNumber
  }
  const before = await serial()
  await makeCertificate(folder, 'server', ca)
  server.child.kill('SIGHUP')
  await server.told(/reloaded the files/)
  t.not(await serial(), before)
})

const metricsOf = (options) =>
  new Promise((resolve) => {
    https.get({ ...options, agent: false, path: '/metrics' }, async (response) => {
      resolve(Buffer.concat(await response.toArray()).toString())
    })
  })
