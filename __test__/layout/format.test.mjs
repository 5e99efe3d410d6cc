// Text and bytes: format() against recorded results, against biguint-format itself, and against BigInt arithmetic where
// biguint-format is wrong.

import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import test from 'ava'
import biguintFormat from 'biguint-format'
import fc from 'fast-check'
import {
  ALPHABETS,
  BASES,
  bufferOf,
  FlakeId,
  hexOf,
  holds,
  ids,
  inAlphabet,
  manualClock,
  numberOf,
  takes,
  throwsCode,
  vectors,
  widthOf,
} from '../support/index.mjs'

const require = createRequire(import.meta.url)

const { format, isId, parse } = FlakeId

const bytesOf = (min, max) => fc.uint8Array({ minLength: min, maxLength: max }).map((bytes) => Buffer.from(bytes))
const someBytes = bytesOf(1, 64)
const zeroes = fc.nat({ max: 8 }).map((length) => Buffer.alloc(length + 1))
const leadingZeroes = fc.tuple(zeroes, someBytes).map((parts) => Buffer.concat(parts))
const anyBytes = fc.oneof({ weight: 8, arbitrary: someBytes }, leadingZeroes, zeroes)
// --- recorded results ---

const { cases } = vectors('format')
const revived = (arg) => (arg?.$buffer === undefined ? arg : Buffer.from(arg.$buffer, 'hex'))

for (const { name, args, out } of cases) {
  test(`recorded: ${name}`, (t) => {
    const [id, base, options] = args.map(revived)
    if (base !== 'dec' || options?.prefix === undefined) return t.is(format(id, base, options), out)
    // That package omits it. Before decimal digits, 0x would change their value.
    t.is(throwsCode(t, () => format(id, base, options), 'ERR_FLAKE_OPTION', RangeError).option, 'prefix')
    t.is(format(id, base, { ...options, prefix: undefined }), out)
  })
}

test('all recorded cases are present', (t) => {
  t.is(cases.length, 63)
})

test('bytes that another thread may change are copied before native code reads them', (t) => {
  const native = require('../../target/rooms/lib/native/index.js')
  const { format } = require('../../target/rooms/lib/layout/format.js')
  const { digits } = native
  const seen = []
  native.digits = (bytes, base) => {
    seen.push(bytes)
    return digits(bytes, base)
  }
  t.teardown(() => {
    native.digits = digits
  })
  const shared = new Uint8Array(new SharedArrayBuffer(16)).fill(1)
  const before = Buffer.from(shared)
  for (const options of [undefined, {}, { format: 'LE' }]) {
    t.is(format(shared, 'hex', options), `1${'01'.repeat(15)}`)
    t.is(format(shared.subarray(0, 8), 'hex', options), `1${'01'.repeat(7)}`)
  }
  t.is(seen.length, 3) // plain JavaScript writes 8 bytes
  t.true(seen.every(({ buffer }) => !(buffer instanceof SharedArrayBuffer)))
  t.deepEqual(Buffer.from(shared), before)
  const eight = shared.subarray(0, 8)
  t.is(FlakeId.toBigInt(eight), 0x0101010101010101n)
  t.is(FlakeId.layouts.flake.decode(eight).counter, 0x101)
})

// --- against biguint-format ---

const text = fc.string({ maxLength: 4 })
const options = fc.record(
  {
    prefix: text,
    groupsize: fc.oneof(fc.integer({ min: -1, max: 9 }), fc.integer({ min: 10, max: 600 })),
    delimiter: text.filter((delimiter) => !delimiter.includes('$')), // biguint-format treats $ as its pattern's
    padstr: text,
    size: fc.oneof(fc.integer({ min: -5, max: 100 }), fc.integer({ min: 0, max: 700 })),
    trim: fc.boolean(),
    format: fc.constantFrom('BE', 'LE'),
  },
  { requiredKeys: [] },
)

function isAsBiguintFormat(id, base, given) {
  const { prefix: _, ...others } = given ?? {} // that package has no prefix in decimal
  const isDecimal = !base || base === 'dec'
  const [ours, theirs] = [format(id, base, isDecimal && given ? others : given), biguintFormat(id, base, given)]
  if (ours !== theirs) throw new Error(`${ours}, not ${theirs}`)
}

for (const base of ['dec', 'hex', 'bin']) {
  test(`${base} equals biguint-format`, (t) => {
    holds(t, [anyBytes, options], (id, given) => isAsBiguintFormat(id, base, given))
    holds(t, [anyBytes], (id) => isAsBiguintFormat(id, base, undefined))
    holds(t, [fc.array(fc.nat({ max: 255 }), { minLength: 1, maxLength: 20 }), options], (id, given) =>
      isAsBiguintFormat(id, base, given),
    )
  })
}

test('a missing base, and falsy values that biguint-format treats as missing, mean decimal', (t) => {
  holds(t, [anyBytes, fc.constantFrom(undefined, null, '', false), options], isAsBiguintFormat)
})

test('oct equals biguint-format where that loses no bits', (t) => {
  const whole = fc.integer({ min: 1, max: 8 }).chain((threes) => bytesOf(threes * 3, threes * 3))
  holds(t, [whole.filter((id) => id.some((byte) => byte > 0)), options], (id, given) =>
    isAsBiguintFormat(id, 'oct', given),
  )
})

test('text with 0x equals biguint-format: hex, of any length, also with an odd number of digits', (t) => {
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 1, maxLength: 40 })
  holds(
    t,
    [hex, fc.constantFrom('0x', '0X'), fc.constantFrom('dec', 'hex', 'bin'), options],
    (digits, x, base, given) => isAsBiguintFormat(x + digits, base, given),
  )
})

// --- against BigInt ---

/** The expected result of format(), in BigInt arithmetic. */
const spelt = {
  dec: (id) => numberOf(id).toString(),
  hex: (id) => numberOf(id).toString(16),
  bin: (id) =>
    numberOf(id)
      .toString(2)
      .padStart(id.length * 8, '0'),
  oct: (id) => numberOf(id).toString(8),
  ...Object.fromEntries(
    Object.entries(ALPHABETS).map(([base, digits]) => [
      base,
      (id) => inAlphabet(id, digits, widthOf(digits, id.length)),
    ]),
  ),
}

for (const base of BASES) {
  test(`${base} equals BigInt arithmetic, for bytes of any length`, (t) => {
    holds(t, [anyBytes], (id) => format(id, base) === spelt[base](id))
    holds(t, [anyBytes], (id) => format(id, base, {}) === spelt[base](id))
    holds(t, [anyBytes], (id) => format(id, base, { format: 'LE' }) === spelt[base](Buffer.from(id).reverse()))
  })

  test(`${base} is the same for 8 bytes, a bigint, decimal text, and nextString`, (t) => {
    holds(t, [ids], (id) => format(bufferOf(id), base) === spelt[base](bufferOf(id)))
    holds(t, [ids], (id) => format(id, base) === spelt[base](bufferOf(id)))
    holds(t, [ids], (id) => format(id.toString(), base) === spelt[base](bufferOf(id)))
    const [texts, bytes] = [1, 2].map(() => new FlakeId({ id: 1023, clock: manualClock() }))
    for (let i = 0; i < 4096; i++) t.assert(texts.nextString(base) === spelt[base](bytes.next()))
  })

  test(`${base} does not depend on the kind of bytes`, (t) => {
    holds(t, [someBytes], (id) => {
      const wanted = format(id, base)
      const inside = new Uint8Array(id.length + 9)
      inside.set(id, 5)
      return [new Uint8Array(id), Array.from(id), inside.subarray(5, 5 + id.length)].every(
        (same) => format(same, base) === wanted,
      )
    })
  })
}

test('a bigint and text of more than 64 bits keep all of them', (t) => {
  const big = 2n ** 200n + 5n
  t.is(format(big), big.toString())
  t.is(format(big.toString(), 'hex'), big.toString(16))
  t.is(format(`0b${big.toString(2)}`, 'oct'), big.toString(8))
})

test('thousands of bytes', (t) => {
  const bytes = Buffer.alloc(5000, 0xa5)
  for (const base of BASES) t.true(format(bytes, base) === spelt[base](bytes))
})

// --- prefixes ---

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const prefixes = fc
  .tuple(fc.constantFrom(...LETTERS), fc.string({ unit: fc.constantFrom(...LETTERS, ...'0189_'), maxLength: 15 }))
  .map((parts) => `${parts.join('').slice(0, 15)}_`)
const ANY_CASE = ['dec', 'hex', 'bin', 'oct', 'base32', 'base36']

for (const base of BASES) {
  test(`a prefix precedes the digits, and parse accepts the text only with it: ${base}`, (t) => {
    holds(t, [ids, prefixes, prefixes], (id, prefix, other) => {
      const text = format(id, base, { prefix })
      const isTaken = isId(text) || takes(() => parse(text, base, { prefix: other }))
      return (
        text === prefix + spelt[base](bufferOf(id)) &&
        parse(text, base, { prefix }).equals(bufferOf(id)) &&
        isTaken === (other === prefix)
      )
    })
  })

  test(`the letters of a prefix are read like those of the digits: ${base}`, (t) => {
    const text = format(123n, base, { prefix: 'ok_' })
    const upper = `OK_${text.slice(3)}`
    const read = () => parse(upper, base, { prefix: 'ok_' })
    if (ANY_CASE.includes(base)) t.true(read().equals(bufferOf(123n)))
    else throwsCode(t, read, 'ERR_FLAKE_ID', TypeError)
    // \u212a, the kelvin sign, is k in lower case.
    const rest = text.slice(3)
    for (const wrong of [`o\u212a_${rest}`, rest, `_${text}`, ` ${text}`, `ok_${text}`, 'ok_', 'ok', ''])
      throwsCode(t, () => parse(wrong, base, { prefix: 'ok_' }), 'ERR_FLAKE_ID', TypeError)
  })
}

test('a prefix is 2 to 16 of a–z, 0–9 and _, up to a final _; format writes any text before hex, binary and octal', (t) => {
  const wrong = ['0x', 'zo', 'or', 'Ord_', 'ord-', 'ö', ' ', 'a\n', `${'a'.repeat(16)}_`, '_', '1_', '__', ['a', 'r']]
  for (const base of BASES) {
    for (const prefix of wrong) {
      const calls = [() => format(5n, base, { prefix }), () => parse('5', base, { prefix })]
      if (['hex', 'bin', 'oct'].includes(base)) {
        t.is(calls[0](), prefix + format(5n, base))
        t.true(parse(calls[0](), base, { prefix }).equals(bufferOf(5n)))
      } else
        for (const call of calls) {
          const error = throwsCode(t, call, 'ERR_FLAKE_OPTION', RangeError)
          t.deepEqual([error.option, error.value], ['prefix', prefix])
          t.regex(error.message, /prefix must be 2 to 16 characters of a–z.*'ord_'/)
        }
    }
    for (const prefix of ['', null, undefined]) {
      t.is(format(5n, base, { prefix }), format(5n, base))
      t.true(parse(format(5n, base), base, { prefix }).equals(bufferOf(5n)))
    }
  }
})

test('a prefix that could be a shorter one and digits is refused wherever it is read or generated', (t) => {
  for (const [base, prefixes] of Object.entries({
    dec: ['inv', 'inv1', 'usr_1'],
    base32: ['mem', 'memo', 'rep', 'repo'],
    base36: ['inv'],
    base58: ['inv', 'in1'],
    base62: ['inv', 'in0'],
    tid: ['inv', 'in2'],
    hex: ['0xa', 'F', '0x1', 'a', 5],
    bin: ['0b1', '0'],
    oct: ['0o7', '5'],
  }))
    for (const prefix of prefixes) {
      const flake = new FlakeId()
      const calls = [
        () => parse(`${prefix}15`, base, { prefix }),
        () => flake.nextString(base, { prefix }),
        () => flake.takeStrings(2, base, { prefix }),
      ]
      if (!['hex', 'bin', 'oct'].includes(base)) calls.push(() => format(5n, base, { prefix }))
      for (const call of calls) {
        const { option, value, message } = throwsCode(t, call, 'ERR_FLAKE_OPTION', RangeError)
        t.deepEqual([option, value], ['prefix', prefix])
        t.regex(message, /'ord_'/)
      }
    }
  for (const [base, prefix] of [
    ['hex', '0x'],
    ['hex', '#'],
    ['bin', '0b'],
    ['oct', '0o'],
    ['oct', 'v8'],
    ['hex', 'ord_'],
  ])
    t.true(parse(format(21n, base, { prefix }), base, { prefix }).equals(bufferOf(21n)))
})

test('parse reports the actual and the expected prefix', (t) => {
  for (const [text, base, why] of [
    ['usr_5', 'dec', "an ID with the prefix 'ord_': it begins with 'usr_'"],
    ['a_long_one_5', 'dec', "an ID with the prefix 'ord_': it begins with 'a_long_one_'"],
    ['12345', 'dec', "an ID with the prefix 'ord_': it begins with '1234'"],
    ['ord_x', 'dec', "an ID in dec. Give only digits of dec, 64 bits at most, after the prefix 'ord_'"],
    [
      'ord_1',
      'base58',
      "an ID in base58. Give 11 characters, from '11111111111' to 'jpXCZedGfVQ', after the prefix 'ord_'",
    ],
  ]) {
    const error = throwsCode(t, () => parse(text, base, { prefix: 'ord_' }), 'ERR_FLAKE_ID', TypeError)
    t.is(error.message, `'${text}' is not ${why}`)
    t.is(error.value, text)
  }
  for (const value of [5n, null, Object.create(null), Symbol('x'), ['ord_5']])
    throwsCode(t, () => parse(value, 'dec', { prefix: 'ord_' }), 'ERR_FLAKE_ID', TypeError)
})

test('parse has one option', (t) => {
  t.is(throwsCode(t, () => parse('5', 'dec', { size: 5 }), 'ERR_FLAKE_OPTION', TypeError).option, 'size')
  for (const options of ['ord_', 5, true])
    throwsCode(t, () => parse('5', 'dec', options), 'ERR_FLAKE_OPTION', TypeError)
  for (const absent of [null, undefined, {}]) t.true(parse('5', 'dec', absent).equals(bufferOf(5n)))
})

// --- faults of biguint-format that are not copied ---

test('text is an ID like any other value: without 0x it is decimal', (t) => {
  t.is(format('10'), '10')
  t.is(format('10', 'hex'), 'a')
  t.is(format('0x10'), '16')
  t.is(format('0b10'), '2')
})

test('a pattern in a delimiter, a prefix or a padding is literal', (t) => {
  for (const pattern of ['$&', '$1', '$$', "$'", '$`', '\\1', '.']) {
    t.is(format('0xabcdef', 'hex', { groupsize: 2, delimiter: pattern }), ['ab', 'cd', 'ef'].join(pattern))
    t.is(format('0xab', 'hex', { prefix: pattern }), `${pattern}ab`)
    t.is(format('0xab', 'hex', { padstr: pattern, size: 2 + pattern.length }), `${pattern}ab`)
  }
})

for (const base of ['x', 'DEC', 'base', 'toString', '__proto__', 16, true, {}, []]) {
  test(`an unknown base is an error: ${inspect(base)}`, (t) => {
    for (const call of [() => format(5n, base), () => parse('5', base)]) {
      const error = t.throws(call, { code: 'ERR_FLAKE_OPTION' })
      t.is(error.option, 'base')
      t.is(error.value, base)
      for (const known of BASES) t.true(error.message.includes(known))
    }
  })
}

test('an unknown option is an error', (t) => {
  for (const key of ['pad', 'groupSize', 'Prefix', 'toString']) {
    const error = t.throws(() => format(5n, 'hex', { [key]: 1 }), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.option, key)
    t.true(error.message.includes(key))
  }
})

test('a bad option is an error', (t) => {
  const bad = [
    ['format', 'le'],
    ['format', 'XX'],
    ['groupsize', 1.5],
    ['groupsize', 'x'],
    ['groupsize', Number.NaN],
    ['size', 'x'],
    ['size', Number.POSITIVE_INFINITY],
  ]
  for (const [option, value] of bad) {
    const error = t.throws(() => format(5n, 'hex', { [option]: value }), { code: 'ERR_FLAKE_OPTION' })
    t.is(error.option, option)
    t.is(error.value, value)
  }
  for (const given of [5, 'x', true]) t.throws(() => format(5n, 'hex', given), { code: 'ERR_FLAKE_OPTION' })
})

test('an absent option has no effect', (t) => {
  const names = ['prefix', 'groupsize', 'delimiter', 'padstr', 'size', 'trim', 'format']
  for (const absent of [null, undefined]) {
    const given = Object.fromEntries(names.map((name) => [name, absent]))
    for (const base of BASES) t.is(format([1, 2, 3], base, given), format([1, 2, 3], base))
    t.is(format(5n, absent, absent), '5')
  }
})

test('the input is never changed', (t) => {
  const given = { groupsize: 2, delimiter: '-', padstr: '0', size: 99, format: 'LE' }
  holds(t, [someBytes, fc.constantFrom(...BASES), fc.constantFrom(undefined, given)], (id, base, chosen) => {
    const before = hexOf(id)
    format(id, base, chosen)
    format(new Uint8Array(id.buffer, id.byteOffset, id.length), base, chosen)
    return hexOf(id) === before
  })
  const frozen = Object.freeze([1, 2, 3])
  t.is(format(frozen, 'hex', Object.freeze({ ...given })).at(-1), '1')
  t.deepEqual(frozen, [1, 2, 3])
})

test('formatting an ID does not change the next generated one', (t) => {
  const flake = new FlakeId({ id: 5, clock: manualClock() })
  const first = flake.next()
  format(Buffer.alloc(8, 0xff), 'hex')
  t.is(flake.nextBigInt(), numberOf(first) + 1n)
  t.is(hexOf(first), '62f3f95a00005000')
})

// biome-ignore format: one kind a line
const noNumbers = [
  undefined, null, true, {}, Symbol('1'), new Date(5),
  '', ' ', 'x', ' 1', '1 ', '1.5', '-1', '+1', '1e3', '1n', '0x', '0b', '0b2', '0xg', '0o7', 'ff',
  1.5, -5, 2 ** 53, Number.NaN, -1n,
  [], [256], [-1], [1.5], ['1'], [undefined], Array(3),
  new Uint8Array(0), new Uint16Array(4), new ArrayBuffer(8),
]

for (const [number, value] of noNumbers.entries()) {
  test(`format rejects ${number}: ${inspect(value)}`, (t) => {
    for (const given of [undefined, {}]) {
      const error = throwsCode(t, () => format(value, 'dec', given), 'ERR_FLAKE_ID', TypeError)
      t.is(error.value, value)
    }
  })
}

test('65 536 bytes are the maximum, in any form, and are fast in every base and in groups', (t) => {
  const most = Buffer.alloc(65_536, 255)
  for (const base of ['dec', 'hex', 'bin', 'oct', 'base32', 'base36', 'base58', 'base62', 'tid']) {
    t.true(format(most, base, { groupsize: 1 }).startsWith(format(most, base).slice(0, 3).split('').join(' ')))
  }
  const tooMuch = [Buffer.alloc(65_537, 255), Array(65_537).fill(255), `0x${'f'.repeat(131_074)}`, 2n ** 524_288n]
  for (const number of [...tooMuch, String(2n ** 524_288n), `0b${'1'.repeat(524_296)}`]) {
    const error = throwsCode(t, () => format(number, 'hex'), 'ERR_FLAKE_ID', TypeError)
    t.regex(error.message, /it has 65537 bytes, and format\(\) accepts at most 65536$/)
  }
})

test('a text longer than any string is an error that names the option', (t) => {
  for (const [option, given] of [
    ['size', { size: 2 ** 31, padstr: '0' }],
    ['size', { size: 2 ** 27 + 1, padstr: '0' }],
    ['delimiter', { groupsize: 1, delimiter: '-'.repeat(2 ** 25) }],
  ]) {
    t.is(throwsCode(t, () => format(7n, 'bin', given), 'ERR_FLAKE_OPTION', RangeError).option, option)
  }
  t.is(format(7n, 'dec', { size: 2 ** 27, padstr: '0' }).length, 2 ** 27)
})
