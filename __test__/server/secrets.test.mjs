// The server prints no password of an address, wherever it was given, and no control character from a client's or a
// store's text.

import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import test from 'ava'
import { clean, PROGRAM } from '../servers/flakeforge.mjs'
import { outputOf } from '../support/index.mjs'
import { ADDRESSES, shows } from '../support/secrets.mjs'
import { passingFolder } from '../support/service.mjs'

/** A run that ends without a signal, or is stopped after some output. */
async function saidBy(args, env = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...clean(process.env), ...env } })
  for (const stream of [child.stdout, child.stderr]) stream.once('data', () => setTimeout(() => child.kill(), 200))
  const { stdout, stderr } = await outputOf(child)
  return stdout + stderr
}

const WAYS = {
  '--store': (address) => saidBy(['--port', '0', '--store', address]),
  FLAKEFORGE_STORE: (address) => saidBy(['--port', '0'], { FLAKEFORGE_STORE: address }),
  'a word alone': (address) => saidBy([address]),
  '--name': (address) => saidBy(['--port', '0', '--store', 'redis://127.0.0.1:1', '--name', address]),
  '--host': (address) => saidBy(['--port', '0', '--host', address]),
  'a number': (address) => saidBy(['--port', address]),
  '--cors': (address) => saidBy(['--port', '0', '--cors', address]),
  file: async (address) => {
    const file = join(await passingFolder(), 'server.json')
    await writeFile(file, JSON.stringify({ names: { orders: { store: address } } }))
    return saidBy(['--port', '0', '--config', file])
  },
}

// A process for each is slow: each way gets other addresses.
for (const [n, [way, say]] of Object.entries(WAYS).entries()) {
  test.serial(`${way}: the server prints no password`, async (t) => {
    const some = ADDRESSES.filter((address, i) => i % 131 === n * 16 && !address.includes('\0'))
    for (const address of some) {
      const said = await say(address)
      t.false(shows(said), `${address}: ${said}`)
    }
  })
}

test.serial('the log escapes control characters for terminals', async (t) => {
  const { write } = createRequire(import.meta.url)('../../target/rooms/packages/server/lib/http/log.js')
  const { write: before } = process.stderr
  let text = ''
  process.stderr.write = (part) => (text += part)
  try {
    write('a\u001b]0;x\u0007b\nredis://u:S3cr3tPw@h is away')
  } finally {
    process.stderr.write = before
  }
  t.is(text, 'a\\u{1b}]0;x\\u{7}b\nredis://…@h is away\n')
})
