// Every spelling of loopback is loopback: for the check of Host, for the warnings, and for --host.

import { createRequire } from 'node:module'
import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { stopAfter } from '../servers/server.mjs'
import { arrived, rawConnection } from '../support/service.mjs'

const { isLoopback, listensOnLoopback } = createRequire(import.meta.url)(
  '../../target/rooms/packages/server/lib/http/loopback.js',
)

const OWN = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'ids.localhost',
  'a.b.LocalHost.',
  ...[
    '127.0.0.1',
    '127.0.0.2',
    '127.255.255.254',
    '127.1',
    '127.0.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
  ],
  '::1',
  '0:0:0:0:0:0:0:1',
  '0::1',
  '::0:1',
  '0000:0000:0000:0000:0000:0000:0000:0001',
  '::0001',
  '::1%lo',
  '::ffff:127.0.0.1',
  '::FFFF:127.0.0.1',
  '::ffff:7f00:1',
  '0:0:0:0:0:ffff:127.1.2.3',
  '::ffff:7fff:ffff',
]
const OTHERS = [
  '',
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'notlocalhost',
  'localhost@evil.example',
  'evil.example@127.0.0.1',
  '127.0.0.1/',
  '127.0.0.1#',
  '127.0.0.1\\',
  '[::1',
  '::1]',
  '127.0.0.1:80',
  ...[
    '0.0.0.0',
    '::',
    '0',
    '10.0.0.1',
    '128.0.0.1',
    '126.1',
    '127',
    '1.127.0.0.1',
    '::2',
    '::ffff:10.0.0.1',
    '::127.0.0.1',
  ],
  '::ffff:8000:1',
  '::7f00:1',
  'fe80::1',
  '1::1',
  'ffff::127.0.0.1',
]

test('spellings of loopback are recognised', (t) => {
  for (const host of OWN) t.true(isLoopback(host), host)
  for (const host of OTHERS) t.false(isLoopback(host), host)
})

test('a name is judged by its addresses here, where a server listens', async (t) => {
  t.true(await listensOnLoopback('localhost'))
  for (const host of ['0.0.0.0', '::', 'nosuch.invalid']) t.false(await listensOnLoopback(host), host)
})

for (const host of ['127.1', '::ffff:127.0.0.1', '0:0:0:0:0:0:0:1', 'LOCALHOST']) {
  test(`--host ${host}: no warning, and foreign names are rejected`, async (t) => {
    const server = stopAfter(t, await startServer({ args: ['--host', host] }))
    t.deepEqual(server.warnings, [])
    const status = async (name) => {
      const raw = rawConnection(server.port, { host: host.startsWith('0:') ? '::1' : '127.0.0.1' })
      raw.send(`POST /v1/ids/default HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
      const [, found] = await arrived(raw, /^HTTP\/1\.1 (\d+).*\}$/s)
      return Number(found)
    }
    for (const own of ['127.1', '[::ffff:127.0.0.1]', '[0:0:0:0:0:0:0:1]:8080', 'ids.localhost:1'])
      t.is(await status(own), 200, own)
    t.is(await status('evil.example'), 403)
  })
}
