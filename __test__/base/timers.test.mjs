// No file of lib/ except timers.js may use a timer or clock that a test can fake, and no test may wait without a limit; Biome
// reports each use.
// lab/consumers/test-runners tests that waits end under the fakes of jest, vitest and sinon.

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import { outputOf } from '../support/index.mjs'

const root = path.join(import.meta.dirname, '..', '..')
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')

/** Uses of possible fakes, one on each line. */
const FAKES = `const { setTimeout: sleep } = require('node:timers/promises')
const timers = require('node:timers')
const { performance: own } = require('node:perf_hooks')
setTimeout(sleep, 5)
setInterval(timers, 5)
setImmediate(own)
clearTimeout(5)
clearInterval(5)
clearImmediate(5)
queueMicrotask(sleep)
performance.now()
globalThis.setTimeout(sleep, 5)
global.performance.now()
process.nextTick(sleep)
process.hrtime.bigint()
const { nextTick } = process
Date.now()
const { now } = Date
new Date()
Date()
`.split('\n')

const FINE = `const { setTimeout, unixNow } = require('./timers.js')
setTimeout(unixNow, 5)
new Date(unixNow())
Date.parse('2020-01-01')
const { platform } = process
AbortSignal.timeout(platform)
`

/** Biome's errors with our settings: line numbers by file. */
async function errorsIn(t, files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-timers-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  fs.mkdirSync(path.join(folder, 'scripts'))
  for (const name of ['biome.json', 'scripts/real-clocks.grit', 'scripts/limited-waits.grit'])
    fs.copyFileSync(path.join(root, name), path.join(folder, name))
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.join(folder, path.dirname(name)), { recursive: true })
    fs.writeFileSync(path.join(folder, name), text)
  }
  const args = ['lint', '--reporter=github', '--max-diagnostics=none', '--diagnostic-level=error', '.']
  const { stdout, stderr } = await outputOf(spawn(process.execPath, [biome, ...args], { cwd: folder }))
  const found = [...stdout.matchAll(/^::error title=.*?,file=(.*?),line=(\d+)/gm)]
  const lines = (name) => {
    const mine = found.filter(([, file]) => file.endsWith(name)).map(([, , line]) => Number(line))
    return [...new Set(mine)].sort((one, other) => one - other)
  }
  return { lines, said: stdout + stderr }
}

test('each use of a possible fake is an error in lib/, and only there', async (t) => {
  const text = FAKES.join('\n')
  const { lines, said } = await errorsIn(t, {
    'lib/some.ts': text,
    'lib/stores/some.ts': text,
    'lib/fine.ts': FINE,
    'lib/base/timers.ts': text,
    'bin/some.ts': text,
  })
  const all = FAKES.flatMap((line, i) => (line === '' ? [] : [i + 1]))
  t.deepEqual(lines('lib/some.ts'), all, said)
  t.deepEqual(lines('lib/stores/some.ts'), all)
  for (const name of ['lib/fine.ts', 'lib/base/timers.ts', 'bin/some.ts']) t.deepEqual(lines(name), [], name)
})

const UNLIMITED = `import { once } from 'node:events'
while (isOpen()) await sleep(20)
while (isOpen()) await turn()
while (isOpen()) await once(socket, 'data')
while (isOpen()) await happens(flake, 'renewed')
while (isOpen()) await new Promise((resolve) => setTimeout(resolve, 20))`

test('each wait of a test without a limit is an error, except where the limit is', async (t) => {
  const fine = "import { EventEmitter } from 'node:events'\nawait until(() => !isOpen())\nwhile (isOpen()) await ask()"
  const { lines, said } = await errorsIn(t, {
    '__test__/lease/some.test.mjs': UNLIMITED,
    '__test__/lease/fine.test.mjs': fine,
    '__test__/support/waits.mjs': UNLIMITED,
  })
  t.deepEqual(lines('some.test.mjs'), [1, 2, 3, 4, 5, 6], said)
  for (const name of ['fine.test.mjs', 'waits.mjs']) t.deepEqual(lines(name), [], name)
})

test('docs/reference/test-runners.md shows the settings that lab/consumers/test-runners runs', (t) => {
  const read = (name) => fs.readFileSync(path.join(root, name), 'utf8')
  const text = read('docs/reference/test-runners.md')
  t.true(text.includes(`\`\`\`ts\n${read('lab/consumers/test-runners/vitest.config.mjs')}\`\`\``))
  const [, shown] = /```json\n(.*?)```/s.exec(text)
  const { projects } = JSON.parse(read('lab/consumers/test-runners/jest.config.json'))
  const [withFakes] = projects.filter(({ fakeTimers }) => fakeTimers !== undefined)
  t.deepEqual({ fakeTimers: withFakes.fakeTimers }, JSON.parse(shown))
})
