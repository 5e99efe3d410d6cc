// flakeforge-check-store is a separate package with its own checks of answers: it must find everything that flakeforge
// rejects at run time, and nothing else.

import { createRequire } from 'node:module'
import test from 'ava'
import fc from 'fast-check'

const require = createRequire(import.meta.url)
const ofCheck = require('../../target/rooms/packages/check-store/lib/answers.js')
const { checkedRecords } = require('../../target/rooms/lib/stores/record-store.js')
const ofLibrary = {
  ...require('../../target/rooms/lib/stores/record-answers.js'),
  checkStore: (given) => void checkedRecords(given),
}

// biome-ignore format: one kind a line
const ANYTHING = [
  undefined, null, true, false, [], {}, () => {}, Symbol('s'),
  0, -1, 1.5, Number.NaN, 1n, -1n, '', 'x', '7',
]
const SOMETHING = fc.oneof(fc.constantFrom(...ANYTHING), fc.anything())
const EDGES = [1e12, 1e12 - 1, 1e14, 1e14 - 1, 2 ** 53, 2 ** 53 - 1]
const NOW = fc.oneof(SOMETHING, fc.constantFrom(...EDGES), fc.integer({ min: 1e11, max: 2 ** 53 }), fc.double())
const POSITION = fc.oneof(
  SOMETHING,
  fc.constantFrom(...EDGES, 2n ** 64n, 2n ** 64n - 1n, -0),
  fc.bigInt(-2n, 2n ** 65n),
)
const TEXT = fc.oneof(fc.string(), SOMETHING)
const IDENTITY = fc.oneof(SOMETHING, fc.record({ history: TEXT, process: TEXT, more: TEXT }, { requiredKeys: [] }))
const NAMES = ['group', 'slot0000000000']
const HOLES = fc.constantFrom(new Array(2), Object.assign(new Array(2), ['x']))
const VALUES = fc.oneof(
  SOMETHING,
  HOLES,
  fc.array(fc.oneof(fc.string(), fc.constant(null), SOMETHING), { maxLength: 3 }),
)
const LIST = fc.oneof(SOMETHING, fc.array(TEXT, { maxLength: 3 }))
const CALL = fc.oneof(
  fc.constant(() => {}),
  SOMETHING,
)
const STORE = fc.oneof(
  SOMETHING,
  fc.record(
    { read: CALL, swap: CALL, names: CALL, groups: CALL, close: CALL },
    { requiredKeys: ['read', 'swap', 'names'] },
  ),
)

const CHECKS = {
  checkNow: fc.tuple(NOW),
  checkPosition: fc.tuple(POSITION),
  checkIdentity: fc.tuple(IDENTITY),
  checkValues: fc.tuple(VALUES, fc.constant(NAMES)),
  checkSwapped: fc.tuple(SOMETHING),
  checkNames: fc.tuple(fc.constantFrom('names', 'groups'), LIST),
  checkStore: fc.tuple(STORE),
}

/** The result, or that it is rejected. */
function outcome(check, given) {
  try {
    return { gives: check(...given) }
  } catch {
    return 'refused'
  }
}

test('all checks of answers are compared', (t) => {
  t.deepEqual(Object.keys(CHECKS).sort(), Object.keys(ofCheck).sort())
})

for (const [name, given] of Object.entries(CHECKS)) {
  test(`${name}: flakeforge-check-store finds what flakeforge rejects, and nothing else`, (t) => {
    const seen = { refused: 0, accepted: 0 }
    const isSame = fc.property(given, (answer) => {
      const ours = outcome(ofLibrary[name], answer)
      seen[ours === 'refused' ? 'refused' : 'accepted'] += 1
      t.deepEqual(outcome(ofCheck[name], answer), ours)
    })
    fc.assert(isSame, { numRuns: 1000 })
    t.true(seen.refused > 0 && seen.accepted > 0, JSON.stringify(seen))
  })
}
