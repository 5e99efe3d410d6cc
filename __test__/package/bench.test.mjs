// `npm run bench -- ids` can make all its comparisons: each pair runs side by side in one process.

process.env.BENCH_BURSTS = '2' // before measure.js

import { createRequire } from 'node:module'
import test from 'ava'

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
