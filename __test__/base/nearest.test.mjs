// When "did you mean" suggests a word, and which.

import test from 'ava'
import { nearest } from '../../target/rooms/lib/base/nearest.js'

const OPTIONS = [
  'datacenter',
  'worker',
  'id',
  'epoch',
  'layout',
  'group',
  'host',
  'nodes',
  'node',
  'ttlMs',
  'skew',
  'n',
]

const CLOSE = {
  wroker: 'worker', // two letters swapped
  Worker: 'worker',
  worke: 'worker',
  workerr: 'worker',
  datacentre: 'datacenter',
  data_center: 'datacenter',
  gruop: 'group',
  epcoh: 'epoch',
  nod: 'node',
  di: 'id',
  grp: 'group',
  ttl: 'ttlMs',
  skewMs: 'skew',
  N: 'n',
}

for (const [word, expected] of Object.entries(CLOSE)) {
  test(`'${word}' is close to '${expected}'`, (t) => t.is(nearest(word, OPTIONS), expected))
}

for (const word of ['', 'V', 'zebra', 'x'.repeat(1_000_000), 'workstation']) {
  test(`nothing is close to '${word.slice(0, 20)}' (${word.length} letters)`, (t) =>
    t.is(nearest(word, OPTIONS), undefined))
}
