// The table of layouts in plain JavaScript equals the core's.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import test from 'ava'

const require = createRequire(import.meta.url)
const { declarations } = require('../../scripts/codec/types.js')
const { printed, rows } = require('../../scripts/codec/rows.js')
const words = (text) => text.replaceAll(/[\s;]+/g, ' ')

test('lib/codec/dialects.ts equals the output of `npm run codec:table`', (t) => {
  t.deepEqual(require('../../target/rooms/lib/codec/dialects.js'), rows())
})

test('so do the types of dialects in lib/codec/node-fields.ts', (t) => {
  const types = readFileSync(new URL('../../lib/codec/node-fields.ts', import.meta.url), 'utf8')
  t.true(words(types).includes(words(declarations(printed()))), 'run `npm run codec:table`')
})
