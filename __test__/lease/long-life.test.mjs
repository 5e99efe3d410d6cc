// Thousands of repetitions in one process leave nothing behind: the short form of lab/long-life.js, which runs at full
// length each week. A deliberate leak shows that leaks would be seen.

import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import anyTest from 'ava'
import { once } from '../support/waits.mjs'

const PROGRAM = path.join(import.meta.dirname, '..', '..', 'lab', 'long-life.js')
const { library } = createRequire(import.meta.url)(PROGRAM)

const test = library === undefined ? anyTest.skip : anyTest
if (library === undefined && process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') throw new Error('libfaketime is missing')
if (library === undefined) console.warn('\n!!! SKIPPED: libfaketime is not installed: long life is not tested !!!\n')

async function live(...words) {
  const child = spawn(process.execPath, [PROGRAM, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { output, status }
}

test.serial('generators, members that come and go, and lost slots leave nothing behind', async (t) => {
  const { output, status } = await live('generators=30000', 'joins=1800', 'losses=600')
  t.is(status, 0, output)
  t.is(output.match(/^ok {4}/gm).length, 12, output)
})

for (const [plant, times, shows] of [
  ['object', 1800, /^GROWS joins, .*: bytes /m],
  ['timer', 300, /^GROWS joins, .*: handles /m],
  ['descriptor', 300, /^GROWS joins, .*: descriptors /m],
]) {
  test.serial(`one ${plant} leaked by each member would show`, async (t) => {
    const { output, status } = await live(`joins=${times}`, '--plant', plant)
    t.is(status, 1, output)
    t.regex(output, shows)
  })
}
