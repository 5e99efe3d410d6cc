// The bases for short text: base36, base58 and base62 against BigInt's own digits and against base-x, the library for
// Bitcoin addresses.

import test from 'ava'
import baseX from 'base-x'
import fc from 'fast-check'
import { ALPHABETS, bufferOf, FlakeId, holds, ids, MAX, numberOf, throwsCode, widthOf } from '../support/index.mjs'

const { format, parse, toBigInt } = FlakeId
const WIDTHS = { base36: 13, base58: 11, base62: 11 }
const someBytes = fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => Buffer.from(bytes))

/**
 * base-x writes each leading zero byte as a zero digit; with a fixed width, there are as many as the width requires.
 */
function byBaseX(bytes, base) {
  const alphabet = ALPHABETS[base]
  const first = bytes.findIndex((byte) => byte > 0)
  const digits = first < 0 ? '' : baseX(alphabet).encode(bytes.subarray(first))
  return digits.padStart(widthOf(alphabet, bytes.length), alphabet[0])
}

for (const [base, width] of Object.entries(WIDTHS)) {
  test(`${base} equals base-x, for an ID and for bytes of any length`, (t) => {
    holds(t, [ids], (id) => format(bufferOf(id), base) === byBaseX(bufferOf(id), base))
    holds(t, [someBytes], (bytes) => format(bytes, base) === byBaseX(bytes, base))
  })

  test(`${base}: base-x reads our text, and parse reads the text of base-x`, (t) => {
    const coder = baseX(ALPHABETS[base])
    const zero = ALPHABETS[base][0]
    holds(t, [ids], (id) => {
      const text = format(bufferOf(id), base)
      return numberOf(coder.decode(text.replace(new RegExp(`^${zero}+(?=.)`), ''))) === id
    })
    holds(t, [ids], (id) => toBigInt(parse(byBaseX(bufferOf(id), base), base)) === id)
  })

  test(`${base}: any text of its letters is read as by base-x, or rejected above 2^64 - 1`, (t) => {
    const coder = baseX(ALPHABETS[base])
    const letters = fc.string({ unit: fc.constantFrom(...ALPHABETS[base]), minLength: width, maxLength: width })
    let read = 0
    holds(t, [letters], (text) => {
      const value = numberOf(coder.decode(text))
      if (value <= MAX) {
        read++
        return toBigInt(parse(text, base)) === value
      }
      try {
        parse(text, base)
        return false
      } catch (error) {
        return error.code === 'ERR_FLAKE_ID'
      }
    })
    t.true(read > 0)
  })

  test(`${base}: text of another width is rejected, and the message names the width`, (t) => {
    const [least, most] = [0n, MAX].map((id) => format(id, base))
    t.deepEqual([least.length, most.length], [width, width])
    for (const text of [least.slice(1), `${least[0]}${least}`, `${least[0]}${most}`, most.slice(1), most[0]]) {
      const error = throwsCode(t, () => parse(text, base), 'ERR_FLAKE_ID', TypeError)
      for (const part of [text, base, String(width), least, most]) t.true(error.message.includes(part), error.message)
    }
  })

  test(`${base}: the options of format work as for base32`, (t) => {
    const id = bufferOf(7529535382561648640n)
    const given = { prefix: 'id_', groupsize: 4, delimiter: '-', padstr: '*', size: 24 }
    const digits = format(id, base)
    const grouped = [...digits].map((digit, i) => ((width - i) % 4 === 0 && i > 0 ? `-${digit}` : digit)).join('')
    t.is(format(id, base, given), `id_${grouped.padStart(21, '*')}`)
    t.is(format(Buffer.from(id).reverse(), base, { format: 'LE' }), digits)
    t.is(format(bufferOf(5n), base, { trim: true }), format(bufferOf(5n), base), 'trim is for bin')
    holds(t, [someBytes, fc.nat({ max: 5 })], (bytes, groupsize) => {
      const shape = (text) => text.replaceAll(/[^ ]/g, 'x')
      const text = format(bytes, base, { groupsize })
      return (
        text.replaceAll(' ', '') === format(bytes, base) &&
        shape(text)
          .split(' ')
          .slice(1)
          .every((group) => group.length === groupsize)
      )
    })
  })
}

test("base36 equals BigInt's digits in lower case, and is read in either case", (t) => {
  holds(t, [ids], (id) => format(bufferOf(id), 'base36') === id.toString(36).padStart(13, '0'))
  holds(t, [ids, fc.array(fc.boolean(), { minLength: 13, maxLength: 13 })], (id, upper) => {
    const text = [...format(bufferOf(id), 'base36')]
      .map((digit, i) => (upper[i] ? digit.toUpperCase() : digit))
      .join('')
    return toBigInt(parse(text, 'base36')) === id
  })
})

test('base58 and base62: a letter of the other case is another digit', (t) => {
  t.is(toBigInt(parse('1111111111A', 'base58')), 9n)
  t.is(toBigInt(parse('1111111111a', 'base58')), 33n)
  t.is(toBigInt(parse('0000000000A', 'base62')), 10n)
  t.is(toBigInt(parse('0000000000a', 'base62')), 36n)
})
