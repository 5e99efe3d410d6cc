// `npm run bench -- ids` can make all its comparisons: each pair runs side by side in one process. `-- growth` can measure all
// its kinds.

process.env.BENCH_BURSTS = '2' // before measure.js

import { execFileSync } from 'node:child_process'
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

const GROWTH = fileURLToPath(new URL('../../lab/bench/growth-once.mjs', import.meta.url))

for (const kind of ['generators', 'next(callback)', 'next(callback), flake-idgen', 'members'])
  test(`growth: ten ${kind}`, async (t) => {
    const folder = await freshFolder('bench')
    t.teardown(() => rm(folder, { recursive: true }))
    const output = execFileSync(process.execPath, ['--expose-gc', GROWTH, kind, '10', `file:${folder}/slots`])
    const { ms, cpuMs, mib, nsEach = 1 } = JSON.parse(output)
    t.true(ms > 0 && cpuMs > 0 && mib >= 0 && nsEach > 0)
  })
