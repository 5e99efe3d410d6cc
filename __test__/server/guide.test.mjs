// docs/service/server.md is correct: its commands run against a server and print what it shows, its Python prints an
// ID, its JSON is a configuration, and its table has every option.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startServer } from '../servers/flakeforge.mjs'
import { wantProgram } from '../servers/server.mjs'
import { blocksOf, program } from '../support/guides.mjs'
import { isWindows } from '../support/processes.mjs'
import { passingFolder } from '../support/service.mjs'

const require = createRequire(import.meta.url)
const { GUIDE, withTable } = require('../../scripts/server-options.js')
const { readConfig } = require('../../target/rooms/packages/server/lib/config/read.js')
const run = promisify(execFile)

const HERE = 'http://127.0.0.1:8080'
let server

anyTest.before(async () => {
  server = await startServer()
})
anyTest.after.always(() => server?.stop())

const ifThere = (name) => (isWindows || wantProgram(name) === undefined ? anyTest.skip : anyTest)

/** Commands, each with the output that its comments promise. */
function commandsOf(block) {
  const commands = []
  for (const line of block.trimEnd().split('\n')) {
    if (line.startsWith('# ')) commands.at(-1).promised.push(line.slice(2))
    else commands.push({ command: line, promised: [] })
  }
  return commands
}

/** IDs and times differ from run to run. */
const shape = (line) => line.replaceAll(/\d{13,}/g, 'ID').trim()

for (const { command, promised } of blocksOf('service/server.md', 'sh').flatMap(commandsOf)) {
  ifThere('curl')(command, async (t) => {
    const { stdout } = await run('sh', ['-c', command.replaceAll(HERE, server.url).replace('curl ', 'curl -sS ')])
    const lines = stdout.trimEnd().split('\n').map(shape)
    t.is(lines.length, promised.length)
    for (const [i, promise] of promised.entries()) {
      if (promise.endsWith('…')) t.true(lines[i].startsWith(shape(promise.slice(0, -1))), lines[i])
      else t.is(lines[i], shape(promise))
    }
  })
}

ifThere('python3')('the program in Python prints an ID', async (t) => {
  const [code] = blocksOf('service/server.md', 'python')
  const file = await program(passingFolder(), 'one.py', code.replace(HERE, server.url))
  const { stdout } = await run('python3', [file])
  t.regex(stdout, /^\d{19}\n$/)
})

anyTest('the JSON is a configuration', async (t) => {
  const [json] = blocksOf('service/server.md', 'json')
  const { tokenFile, ...config } = JSON.parse(json)
  t.is(typeof tokenFile, 'string')
  const file = await program(passingFolder(), 'config.json', JSON.stringify(config))
  const { entries } = await readConfig({ config: file }, {})
  t.deepEqual(
    entries.map(({ name, kind }) => [name, kind]),
    [
      ['orders', 'group'],
      ['users', 'group'],
      ['invoices', 'segment'],
    ],
  )
})

anyTest("the table of options lists the server's options: `node scripts/server-options.js` writes it", (t) => {
  const text = readFileSync(GUIDE, 'utf8')
  t.is(text, withTable(text))
})
