// README's first screen: the commands for a clone and the first program print what README shows.

import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { blocks, shape } from '../support/documents.mjs'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..', '..')
const README = await fs.readFile(path.join(root, 'README.md'), 'utf8')
const all = blocks(README)

/** The block of output after the block of commands with this line. */
const outputAfter = (line) => all[all.findIndex(({ code }) => code.split('\n').includes(line)) + 1].code

test('npm start -- 5 prints five IDs like those that README shows', async (t) => {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'flakeforge-readme-'))
  t.teardown(() => fs.rm(folder, { recursive: true }))
  const env = { ...process.env, FLAKEFORGE_STORE: `file:${folder}` }
  const { stdout } = await run('npm', ['start', '--silent', '--', '5'], {
    cwd: root,
    env,
    shell: process.platform === 'win32',
  })
  const shown = stdout.trimEnd().split('\n\n')
  t.is(shown.length, 5)
  for (const id of shown) t.is(shape(id), shape(outputAfter('npm start -- 5')))
})

test('the first program prints what README shows: IDs of node 0, as in the picture', async (t) => {
  const folder = await fs.mkdtemp(path.join(root, 'target', 'flakeforge-readme-'))
  t.teardown(() => fs.rm(folder, { recursive: true }))
  const program = all.find(({ code }) => code.startsWith('// first.mjs'))
  await fs.writeFile(path.join(folder, 'first.mjs'), program.code)
  const { stdout } = await run(process.execPath, [path.join(folder, 'first.mjs')])
  const shown = outputAfter('node first.mjs')
  t.is(shape(stdout), shape(shown))
  const { layouts } = await import('../../dist/index.mjs')
  for (const text of [shown, stdout]) t.is(layouts.flake.decode(text.split('n')[0]).id, 0)
})

test('README says how to start before it says why, and names the two commands first', (t) => {
  const [first] = all
  t.regex(first.code, /^git clone .*\nnpm start -- 5\nnpm test\n$/)
  t.true(README.indexOf('npm install flakeforge') > README.indexOf(first.code))
  t.true(README.indexOf('| you run | use |') < README.indexOf('## Why'))
})
