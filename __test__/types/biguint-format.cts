// flakeforge/biguint-format in place of biguint-format, in CommonJS. Compiled, and run.

import assert = require('node:assert')
import format = require('flakeforge/biguint-format')

const base: format.Base = 'hex'
const options: format.Options = { prefix: '0x', groupsize: 2, delimiter: ':' }
const texts: string[] = [format('50dd'), format([1, 2], base, options), format(Buffer.alloc(8), 'bin', { trim: true })]
assert.deepStrictEqual(texts.slice(0, 2), ['20701', '0x1:02'])
const unknown: string | undefined = format('50dd', String('base64'))
assert.strictEqual(unknown, undefined)

/** Code that must not compile. It is never called. */
export function mistakes(): void {
  // @ts-expect-error: the package knows no bigints
  format(5n)
  // @ts-expect-error: no such option
  format('50dd', 'hex', { prefx: '0x' })
  // @ts-expect-error: of an unknown base there is no text
  const text: string = format('50dd', String('base64'))
  void text
}

console.log('biguint-format.cts is right')
