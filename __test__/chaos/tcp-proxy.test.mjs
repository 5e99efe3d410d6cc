// The TCP proxy of the chaos runs: it forwards everything intact, and each of its faults does what its name says.

import { createRequire } from 'node:module'
import net from 'node:net'
import test from 'ava'
import { until } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { TcpProxy } = require('../../lab/chaos/faults/tcp-proxy.js')

/** A server that echoes its input after its name. */
async function echo(t, name) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.write(name)
    socket.pipe(socket)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return server.address().port
}

async function proxyTo(t, port) {
  const proxy = await TcpProxy.open(port)
  t.teardown(() => proxy.close())
  return proxy
}

/** A connection that keeps its input; `has(text)` resolves once it has all arrived. */
function connect(t, proxy) {
  const socket = net.connect(proxy.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let got = ''
  socket.setEncoding('utf8').on('data', (text) => {
    got += text
  })
  const ended = new Promise((resolve) => {
    socket.once('error', (error) => resolve(error.code)).once('close', () => resolve('closed'))
  })
  const has = async (text) => {
    await until(() => got.endsWith(text), { state: () => `only ${got}` })
    return got
  }
  return { socket, ended, has, got: () => got }
}

/** Long enough for loopback to deliver everything that is not held back. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 200))

test('forwards all bytes in both directions, and the end', async (t) => {
  const proxy = await proxyTo(t, await echo(t, 'A'))
  const { socket, ended, has } = connect(t, proxy)
  const long = `${'0123456789'.repeat(200_000)}.`
  socket.write(long)
  t.is(await has('.'), `A${long}`)
  socket.end()
  t.is(await ended, 'closed')
})

test('cut: all connections end at once, and new ones work', async (t) => {
  const proxy = await proxyTo(t, await echo(t, 'A'))
  const connections = [connect(t, proxy), connect(t, proxy)]
  for (const { has } of connections) await has('A')
  proxy.cut()
  for (const { ended } of connections) t.is(await ended, 'ECONNRESET')
  t.is(await connect(t, proxy).has('A'), 'A')
})

test('stall: nothing is forwarded until the last stall is over, and nothing is lost', async (t) => {
  const proxy = await proxyTo(t, await echo(t, 'A'))
  const before = connect(t, proxy)
  await before.has('A')
  proxy.stall()
  proxy.stall()
  const later = connect(t, proxy)
  before.socket.write('hello')
  later.socket.write('world')
  await aWhile()
  proxy.flow()
  await aWhile()
  t.is(before.got() + later.got(), 'A')
  proxy.flow()
  t.is(await before.has('hello'), 'Ahello')
  t.is(await later.has('world'), 'Aworld')
})

test('refuse: connections end, and new ones at once, until the last refusal is over', async (t) => {
  const proxy = await proxyTo(t, await echo(t, 'A'))
  const before = connect(t, proxy)
  await before.has('A')
  proxy.refuse()
  proxy.refuse()
  t.is(await before.ended, 'ECONNRESET')
  proxy.accept()
  const refused = connect(t, proxy)
  t.true(['ECONNRESET', 'closed'].includes(await refused.ended))
  t.is(refused.got(), '')
  proxy.accept()
  t.is(await connect(t, proxy).has('A'), 'A')
})

test('forwards to another server, and nowhere when that is down', async (t) => {
  const proxy = await proxyTo(t, await echo(t, 'A'))
  const before = connect(t, proxy)
  await before.has('A')
  proxy.pointTo(await echo(t, 'B'))
  t.is(await before.ended, 'ECONNRESET')
  t.is(await connect(t, proxy).has('B'), 'B')
  const closed = net.createServer()
  await new Promise((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address()
  await new Promise((resolve) => closed.close(resolve))
  proxy.pointTo(port)
  const nowhere = connect(t, proxy)
  await nowhere.ended
  t.is(nowhere.got(), '')
})
