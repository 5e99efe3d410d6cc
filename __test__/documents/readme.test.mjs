// README is short, and its first screen is true: the first program and the commands for a clone print what README shows.

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

test('README shows its purpose, how to install and a first result in its first 25 lines, then the commands for a clone', (t) => {
  const first = README.split('\n').slice(0, 25).join('\n')
  t.regex(first, /^# flakeforge\n\nUnique 64-bit IDs .*```sh\nnpm install flakeforge\n```.*```\n\d{19}n\n\d{19}\n```$/s)
  const clone = README.search(/^git clone .*\nnpm start -- 5\nnpm test\n/m)
  t.true(clone > first.length && clone < README.indexOf('## When not to use it'))
})

test('README is short, and says when not to use it before it says why', (t) => {
  const words = README.split(/\s+/).length
  t.true(words <= 1200, `${words} words: move what is too much to a guide`)
  const sections = ['## When not to use it', '## Which set-up', '## Why'].map((heading) => README.indexOf(heading))
  t.deepEqual(
    sections,
    sections.toSorted((a, b) => a - b),
  )
  t.true(sections[0] > 0)
})
