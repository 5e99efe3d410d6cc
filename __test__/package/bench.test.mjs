// `npm run bench -- ids` can make all its comparisons: each pair runs side by side in one process. `-- growth` can measure all
// its kinds.

process.env.BENCH_BURSTS = '2' // before measure.js

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { freshFolder } from '../servers/server.mjs'

const require = createRequire(import.meta.url)
const { jobs } = require('../../lab/bench/ids.js')
const { nsOfPair } = require('../../lab/bench/measure.js')

const pairs = [...jobs.values()].filter(([, kind]) => kind === 'pair').map(([, , ...works]) => works)

test('there are comparisons', (t) => t.true(pairs.length > 20))

for (const works of pairs) {
  test.serial(works.join(' '), async (t) => {
    const [ours, theirs] = await nsOfPair(...works)
    t.true(ours > 0 && theirs > 0)
  })
}

test('the table of duplicates is of the packages that are installed, and has every check', async (t) => {
  const { CHECKS, headingOf, PACKAGES, PAGE, WRITTEN } = require('../../lab/bench/compare.js')
  const [headings, , ...rows] = WRITTEN.exec(readFileSync(PAGE, 'utf8'))[0]
    .split('\n')
    .map((line) => line.slice(1, -1).split('|').map((cell) => cell.trim())) // biome-ignore format: one line
  const here = Object.keys(PACKAGES).filter((name) => name !== 'uniku') // it may not be installed
  t.deepEqual(headings.slice(0, -1), ['', ...here.map(headingOf)])
  t.deepEqual(rows.map(([check]) => check), Object.keys(CHECKS)) // biome-ignore format: one line
  const one = '2 generators with one node number, 2,000 IDs'
  const shown = rows.find(([check]) => check === one)
  for (const [i, name] of here.entries()) {
    const count = CHECKS[one](await PACKAGES[name](), name)
    t.is(typeof count === 'number', /^[\d,]+ (?:to|duplicates)/.test(shown[i + 1]), name)
  }
})

const GROWTH = fileURLToPath(new URL('../../lab/bench/growth-once.mjs', import.meta.url))

for (const kind of ['generators', 'next(callback)', 'next(callback), flake-idgen', 'members'])
  test(`growth: ten ${kind}`, async (t) => {
    const folder = await freshFolder('bench')
    t.teardown(() => rm(folder, { recursive: true }))
    const output = execFileSync(process.execPath, ['--expose-gc', GROWTH, kind, '10', `file:${folder}/slots`])
    const { ms, cpuMs, mib, nsEach = 1 } = JSON.parse(output)
    t.true(ms > 0 && cpuMs > 0 && mib >= 0 && nsEach > 0)
  })
