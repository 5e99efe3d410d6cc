// The table of layouts that plain JavaScript has is the core's.

import { createRequire } from 'node:module'
import test from 'ava'

const require = createRequire(import.meta.url)

test('lib/codec/dialects.ts is what `npm run codec:table` would write', (t) => {
  t.deepEqual(require('../../target/rooms/lib/codec/dialects.js'), require('../../scripts/codec/rows.js').rows())
})
