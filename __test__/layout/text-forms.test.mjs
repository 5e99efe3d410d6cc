// The short forms of an ID that `flakeforge inspect` reads: which one a text is taken for, and when it says that the text
// could be another.

import { createRequire } from 'node:module'
import test from 'ava'
import { ALPHABETS, bufferOf, FlakeId, holds, ids } from '../support/index.mjs'

const { readId } = createRequire(import.meta.url)('../../bin/parts/text-forms.js')
const { format, toBigInt } = FlakeId

/** The forms that a text of this base may be taken for; where it is not the base itself, the note must name it. */
const TAKEN_FOR = {
  base32: ['base32', 'decimal'],
  base36: ['base36', 'base32', 'decimal'],
  base58: ['base58', 'base64', 'decimal'],
  base62: ['base62', 'base58', 'base64', 'decimal'],
}

for (const [base, forms] of Object.entries(TAKEN_FOR)) {
  test(`${base}: read as itself, or with a note that it could be`, (t) => {
    const seen = new Set()
    holds(t, [ids], (id) => {
      const read = readId(format(bufferOf(id), base))
      seen.add(read.form)
      if (read.form === base) return toBigInt(read.id) === id
      return forms.includes(read.form) && (read.form === 'decimal' || read.note.includes(base))
    })
    t.true(seen.has(base))
  })

  test(`${base}: a flake ID of our days`, (t) => {
    const id = 7529535382561648641n
    const { form, id: read } = readId(format(bufferOf(id), base))
    t.is(form, base)
    t.is(toBigInt(read), id)
  })

  test(`${base}: text above 2^64 is none of these`, (t) => {
    const text = ALPHABETS[base].at(-1).repeat(base === 'base32' || base === 'base36' ? 13 : 11)
    t.throws(() => readId(text), { message: /is not an ID.*base36.*base58 or base62/ })
  })
}

test('a note only where the text is as the other base writes it', (t) => {
  t.is(readId('6GZJ8H64N4W00').note, undefined)
  t.regex(readId('1l7etj6f2oi68').form, /base36/)
  t.is(readId('2zzzzzzzzzzz0').note, 'read as base32: it could be base36 too')
  t.is(readId('2ZZZZZZZZZZZ0').note, undefined)
})
