// docs/service/client.md is correct: its programs run against a flakeforge-server, and print what they show.

import test from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { blocksOf, installed, linesOf, program } from '../support/guides.mjs'

const GUIDE = 'service/client.md'

test('its programs run, and print what they show', async (t) => {
  const server = await startServer()
  t.teardown(() => server.stop())
  const folder = await installed(t)
  const blocks = blocksOf(GUIDE, 'javascript')
  t.is(blocks.length, 5)
  for (const [i, code] of blocks.entries())
    await program(folder, `${i}.mjs`, code.replaceAll('http://127.0.0.1:8080', server.url.replace(/\/$/, '')))
  const one = blocks.map((_code, i) => `await import('./${i}.mjs')\n`).join('')
  const lines = await linesOf(process.execPath, [await program(folder, 'one-after-the-other.mjs', one)])
  const promised = blocks.flatMap((code) =>
    [...code.matchAll(/^ *console[.]log\(.*\)(?: \/\/ (.*))?$/gm)].map(([, said]) => said),
  )
  t.is(lines.length, promised.length, 'one line for each console.log')
  let checked = 0
  for (const [line, said] of promised.entries()) {
    if (said === undefined) continue
    checked++
    t.is(lines[line], said)
  }
  t.is(checked, 4)
})
