// flakeforge/biguint-format in place of biguint-format, in an ES module. Compiled, and run.

import assert from 'node:assert'
import format, { type Options } from 'flakeforge/biguint-format'

const options: Options = { format: 'LE', size: 8, padstr: '0' }
const text: string = format(Buffer.from([1, 2]), 'hex', options)
assert.equal(text, '00000201')

console.log('biguint-format.mts is right')
