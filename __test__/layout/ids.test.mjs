// IDs in their other forms: parse() as the inverse of format(), and toBigInt, toSigned, fromSigned and compare against
// BigInt arithmetic and Buffer.compare.

import { inspect } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import {
  ALPHABETS,
  BASES,
  bufferOf,
  FlakeId,
  holds,
  ids,
  inAlphabet,
  MAX,
  takes,
  throwsCode,
  widthOf,
} from '../support/index.mjs'

const { compare, format, fromSigned, isId, parse, toBigInt, toSigned } = FlakeId

/** Bases in which the case of letters matters, and those with fixed-width text. */
const CASE_COUNTS = ['base58', 'base62', 'tid']
const EXACT = ['base36', 'base58', 'base62', 'tid']

// --- parse ---

for (const base of BASES) {
  test(`parse is the inverse of format: ${base}`, (t) => {
    holds(t, [ids], (id) => {
      const buffer = bufferOf(id)
      const back = parse(format(buffer, base), base)
      return Buffer.isBuffer(back) && back.equals(buffer)
    })
    if (CASE_COUNTS.includes(base)) return
    holds(t, [ids], (id) => toBigInt(parse(format(bufferOf(id), base).toUpperCase(), base)) === id)
    holds(t, [ids], (id) => toBigInt(parse(format(bufferOf(id), base).toLowerCase(), base)) === id)
  })

  test(`parse accepts 64 bits and no more: ${base}`, (t) => {
    const alphabet = ALPHABETS[base]
    const digits = (value) => (alphabet ? inAlphabet(value, alphabet, 1) : value.toString(radixOf(base)))
    t.is(toBigInt(parse(digits(MAX), base)), MAX)
    if (!EXACT.includes(base)) t.is(toBigInt(parse(`000${digits(MAX)}`, base)), MAX)
    for (const more of [MAX + 1n, MAX + 2n, MAX * 2n, MAX * 10n, MAX * 32n, 10n ** 20n, 10n ** 40n]) {
      throwsCode(t, () => parse(digits(more), base), 'ERR_FLAKE_ID', TypeError)
    }
  })
}

const radixOf = (base) => ({ dec: 10, hex: 16, bin: 2, oct: 8 })[base]

test('parse gives a Buffer in a separate ArrayBuffer', (t) => {
  const id = parse('123')
  t.is(id.length, 8)
  t.is(id.byteOffset, 0)
  t.is(id.buffer.byteLength, 8)
})

test('parse reads decimal without a base', (t) => {
  for (const base of [undefined, null, '']) t.is(toBigInt(parse('10', base)), 10n)
})

const junk = ['', ' ', ' 1', '1 ', '1\n', '\u00001', '1_0', '1,0', '-1', '+1', '1.0', '\ud800', '\u0661', '\uff11', '*']
const noText = [1, 0, 1.5, 1n, null, undefined, true, {}, [], ['1'], Buffer.from('1'), Symbol('1'), Object('1')]

for (const base of BASES) {
  test(`parse rejects text that is not digits: ${base}`, (t) => {
    for (const value of [...junk, ...noText]) {
      const error = throwsCode(t, () => parse(value, base), 'ERR_FLAKE_ID', TypeError)
      t.is(error.value, value)
    }
  })
}

const wrongDigits = {
  dec: ['a', '1a', '1n', '0x1', '0b1', '1e3', '18446744073709551616', '100000000000000000000', '99999999999999999999'],
  hex: ['g', '0x1', '0X1', '0xg', '10000000000000000', 'ff ff', '#f'],
  bin: ['2', '0b1', '12', `1${'0'.repeat(64)}`],
  oct: ['8', '0o7', '9', '2000000000000000000000'],
  base32: ['U', 'u', 'G000000000000', '0-0', '10000000000000', 'ZZZZZZZZZZZZZ'],
  base36: ['3w5e11264sgsg', 'zzzzzzzzzzzzz', '000000000000-', '000000000000_'],
  base58: ['jpXCZedGfVR', 'zzzzzzzzzzz', '1111111111O', '1111111111I', '1111111111l', '11111111110', '00000000000'],
  base62: ['LygHa16AHYG', 'zzzzzzzzzzz', '0000000000-', '0000000000_', '0000000000+', '0000000000/'],
  tid: [
    'k222222222222',
    'zzzzzzzzzzzzz',
    '3L25zusnsfctk',
    '3L25ZUSNSFCTK',
    '3l25zusnsfct0',
    '3l25zusnsfct8',
    '3l25zusnsfct',
  ],
}

for (const [base, texts] of Object.entries(wrongDigits)) {
  test(`parse rejects digits of another base, and more than 64 bits: ${base}`, (t) => {
    for (const value of texts) throwsCode(t, () => parse(value, base), 'ERR_FLAKE_ID', TypeError)
  })
}

for (const [base, width] of Object.entries({ base32: 13, base36: 13, base58: 11, base62: 11, tid: 13 })) {
  test(`${base} has ${width} characters and sorts as numbers do`, (t) => {
    t.is(widthOf(ALPHABETS[base], 8), width)
    holds(t, [ids, ids], (a, b) => {
      const [first, second] = [a, b].map((id) => format(bufferOf(id), base))
      const isWide = first.length === width && second.length === width
      return isWide && first < second === a < b && (first === second) === (a === b)
    })
  })
}

test('base32 reads the usual handwritten variants: lower case, O for 0, I and L for 1', (t) => {
  t.is(toBigInt(parse('OoIiLl', 'base32')), toBigInt(parse('001111', 'base32')))
  holds(t, [ids, fc.array(fc.boolean(), { minLength: 13, maxLength: 13 })], (id, lower) => {
    const lookAlikes = format(bufferOf(id), 'base32').replaceAll('0', 'O').replaceAll('1', 'L')
    const written = [...lookAlikes].map((digit, i) => (lower[i] ? digit.toLowerCase() : digit)).join('')
    return toBigInt(parse(written, 'base32')) === id
  })
})

// --- IDs as numbers ---

/** The forms in which an ID may be given. */
const formsOf = (id) => [
  id,
  bufferOf(id),
  new Uint8Array(bufferOf(id)),
  id.toString(),
  `0x${id.toString(16)}`,
  `0X${id.toString(16).toUpperCase()}`,
  `0b${id.toString(2)}`,
]
const forms = ids.chain((id) => fc.constantFrom(...formsOf(id)).map((form) => ({ id, form })))

const safeIntegers = fc.oneof(
  fc.maxSafeNat(),
  fc.nat({ max: 1000 }),
  fc.nat({ max: 1000 }).map((n) => Number.MAX_SAFE_INTEGER - n),
)

test('a safe integer is an ID wherever one is read', (t) => {
  const { flake, safe } = FlakeId.layouts
  holds(t, [safeIntegers, ids], (number, other) => {
    const id = BigInt(number)
    const same = [toBigInt(number) === id, toSigned(number) === id, format(number) === String(number)]
    const inHex = format(number, 'hex', { prefix: '0x' }) === `0x${number.toString(16)}`
    const inBits = format(number, 'bin') === number.toString(2).padStart(64, '0')
    const bytes = compare(number, bufferOf(id)) === 0 && compare(number, other) === -compare(other, number)
    const parts = [flake, safe].every((layout) => layout.decode(number).tick === layout.decode(id).tick)
    return same.every(Boolean) && inHex && inBits && bytes && parts
  })
  t.is(toBigInt(Number.MAX_SAFE_INTEGER), 9007199254740991n)
  t.is(toBigInt(-0), 0n, 'there is only one zero')
  t.is(format(-0), '0')
})

test('a number that may have lost digits is rejected, and the error says why', (t) => {
  for (const [number, why] of [
    [2 ** 53, /2\^53 − 1 \(9007199254740991\).*bigint.*text/],
    [7529535382561649000, /2\^53 − 1/],
    [Number.MAX_VALUE, /2\^53 − 1/],
    [Number.POSITIVE_INFINITY, /2\^53 − 1/],
    [0.5, /fraction/],
    [Number.MIN_VALUE, /fraction/],
    [-1, /negative.*fromSigned/],
    [-(2 ** 60), /negative/],
    [-1.5, /negative/],
    [Number.NEGATIVE_INFINITY, /negative/],
    [Number.NaN, /it is not a number/],
  ]) {
    const { flake } = FlakeId.layouts
    for (const call of [toBigInt, toSigned, format, (id) => compare(id, 1n), (id) => flake.decode(id)]) {
      const error = throwsCode(t, () => call(number), 'ERR_FLAKE_ID', TypeError)
      t.is(error.value, number)
      t.true(error.message.startsWith(`${number} is not an ID: `), error.message)
      t.regex(error.message, why)
    }
  }
})

test('toBigInt reads every form of an ID', (t) => {
  holds(t, [ids], (id) => formsOf(id).every((form) => toBigInt(form) === id))
})

test('toSigned is BigInt.asIntN, and fromSigned its inverse', (t) => {
  holds(t, [forms], ({ id, form }) => toSigned(form) === BigInt.asIntN(64, id))
  holds(t, [ids], (id) => fromSigned(BigInt.asIntN(64, id)).equals(bufferOf(id)))
  holds(t, [fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })], (value) => {
    const id = fromSigned(value)
    return toBigInt(id) === BigInt.asUintN(64, value) && toSigned(id) === value
  })
  holds(t, [ids], (id) => fromSigned(String(BigInt.asIntN(64, id))).equals(bufferOf(id)))
  t.is(toSigned(2n ** 63n), -(2n ** 63n))
  t.is(toSigned(MAX), -1n)
})

test('compare is Buffer.compare, whatever the forms', (t) => {
  const pairs = fc.oneof(
    fc.tuple(forms, forms),
    ids.chain((id) => fc.tuple(...[0, 1].map(() => asForm(id)))),
  )
  holds(t, [pairs], ([a, b]) => compare(a.form, b.form) === Buffer.compare(bufferOf(a.id), bufferOf(b.id)))
})

const asForm = (id) => fc.constantFrom(...formsOf(id)).map((form) => ({ id, form }))

test('compare sorts by unsigned value', (t) => {
  holds(t, [fc.array(forms, { maxLength: 20 })], (some) => {
    const sorted = some.map(({ form }) => form).sort(compare)
    return sorted.every((id, i) => i === 0 || toBigInt(sorted[i - 1]) <= toBigInt(id))
  })
})

// biome-ignore format: one kind a line
const noIds = [
  -1, 1.5, 2 ** 53, 2 ** 60, Number.NaN, Number.POSITIVE_INFINITY, Object(1), -1n, 2n ** 64n, Object(1n),
  Buffer.alloc(7), Buffer.alloc(9), Buffer.alloc(0), new Uint8Array(16), [0, 0, 0, 0, 0, 0, 0, 1],
  new ArrayBuffer(8), new DataView(new ArrayBuffer(8)), new BigUint64Array(1), new Uint8ClampedArray(8),
  '', ' ', '0x', '0b', '1.5', '-1', '+1', ' 1', '1 ', '1n', 'ff', '0xfg', '0b12', '0o17', '1\n',
  (2n ** 64n).toString(), `0x1${'0'.repeat(16)}`, '9'.repeat(500), `${'0'.repeat(200)}7`, `0x${'0'.repeat(200)}7`,
  null, undefined, true, {}, { toString: () => '1' }, Symbol('1'),
]

for (const [number, value] of noIds.entries()) {
  test(`not an ID ${number}: ${inspect(value).slice(0, 50)}`, (t) => {
    const flake = new FlakeId()
    const calls = [
      () => toBigInt(value),
      () => toSigned(value),
      () => compare(value, 1n),
      () => compare(1n, value),
      () => flake.decode(value),
      () => flake.layout.decode(value),
    ]
    for (const call of calls) t.is(throwsCode(t, call, 'ERR_FLAKE_ID', TypeError).value, value)
  })
}

const noSigned = [2n ** 63n, -(2n ** 63n) - 1n, MAX, 0, -1, null, undefined, true, {}, Buffer.alloc(8), ['1']]
// biome-ignore format: a line is enough
const noSignedText = ['', '-', '-0', '+1', '01', '-01', ' 1', '1 ', '1\n', '1n', '1.0', '1e3', '0x1', '１', '9'.repeat(1000)]

test('fromSigned rejects everything but signed 64-bit integers, and says what to do', (t) => {
  const beyond = [2n ** 63n, -(2n ** 63n) - 1n, MAX, 10n ** 19n].map(String)
  for (const value of [...noSigned, ...noSignedText, ...beyond]) {
    const error = throwsCode(t, () => fromSigned(value), 'ERR_FLAKE_ID', TypeError)
    t.is(error.value, value)
    t.regex(error.message, /−2\^63 to 2\^63 − 1; toBigInt\(\)/)
  }
})

test('fromSigned accepts the text that BigInt writes for 64 bits, and no other', (t) => {
  const texts = fc.oneof(
    fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
    fc.string({ unit: fc.constantFrom(...'-+0189 .e'), maxLength: 21 }),
  )
  const isSigned = (text) => {
    if (!/^-?\d+$/.test(text)) return false
    const value = BigInt(text)
    return String(value) === text && BigInt.asIntN(64, value) === value
  }
  holds(t, [texts], (text) => takes(() => fromSigned(text)) === isSigned(text))
})

test('arrays that are deep, or contain themselves, are not IDs: the error shows their outer level', (t) => {
  const own = []
  own.push(own)
  let deep = []
  for (let i = 0; i < 100_000; i++) deep = [deep]
  for (const value of [own, deep]) {
    const { message } = throwsCode(t, () => toBigInt(value), 'ERR_FLAKE_ID', TypeError)
    t.true(message.startsWith('[[an array of 1]] is not an ID'), message)
  }
})

// --- isId ---

const anything = fc.oneof(
  forms.map(({ form }) => form),
  fc.anything({ withBigInt: true, withTypedArray: true }),
  fc.string({ unit: fc.constantFrom(...'019afxzABO'), maxLength: 23 }),
  fc.constantFrom(...noIds, ...junk, ...noText, ...Object.values(wrongDigits).flat()),
)

test('isId is true exactly where toBigInt or parse accept the value', (t) => {
  let ids = 0
  holds(t, [anything], (value) => {
    if (isId(value)) ids++
    return isId(value) === takes(() => toBigInt(value))
  })
  t.true(ids > 0)
  for (const base of ['', ...BASES]) {
    holds(t, [anything], (value) => isId(value, base) === takes(() => parse(value, base)))
    if (base !== '') holds(t, [forms], ({ id }) => isId(format(id, base), base))
  }
})

test('isId against a regular expression and BigInt', (t) => {
  const isDecimal = (text) => /^\d+$/.test(text) && BigInt(text) < 2n ** 64n
  const digits = fc.oneof(
    ids.map(String),
    fc.bigInt({ min: 0n, max: 2n ** 66n }).map(String),
    fc.string({ maxLength: 22 }),
    fc.constantFrom(String(MAX), String(MAX + 1n)),
  )
  holds(t, [digits], (text) => isId(text, 'dec') === isDecimal(text))
})

test('isId ignores a base that is not text, so filter() may pass an index', (t) => {
  const values = ['1', 'x', 2n, 2 ** 53, null, '0x7b', bufferOf(5n), '12x', 3]
  t.deepEqual(values.filter(isId), ['1', 2n, '0x7b', bufferOf(5n), 3])
  t.deepEqual(
    values.map(isId),
    values.map((value) => isId(value)),
  )
  for (const base of [undefined, null, 5, {}, Symbol('dec')])
    t.deepEqual([isId('0x7b', base), isId('x', base)], [true, false])
})

test('isId never throws: neither for an unknown base, nor for a value that throws when it is inspected', (t) => {
  t.false(isId('1', 'base64'))
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const trap = () => {
    throw new Error('a trap')
  }
  const traps = new Proxy({}, { get: trap, getPrototypeOf: trap })
  for (const value of [proxy, traps, { toString: trap }, () => 1]) {
    t.false(isId(value))
    for (const base of BASES) t.false(isId(value, base))
  }
})
