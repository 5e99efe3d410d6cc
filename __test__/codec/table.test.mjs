// The table of layouts in plain JavaScript equals the core's.

import { createRequire } from 'node:module'
import test from 'ava'

const require = createRequire(import.meta.url)

test('lib/codec/dialects.ts equals the output of `npm run codec:table`', (t) => {
  t.deepEqual(require('../../target/rooms/lib/codec/dialects.js'), require('../../scripts/codec/rows.js').rows())
})
