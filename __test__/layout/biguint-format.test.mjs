// flakeforge/biguint-format is the package biguint-format to the letter: the package's own tests pass on it, and for
// the same input both return or throw the same.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import test from 'ava'
import theirs from 'biguint-format'
import fc from 'fast-check'
import imported from 'flakeforge/biguint-format'
import { FlakeId, RUNS } from '../support/index.mjs'

const require = createRequire(import.meta.url)
const ours = require('flakeforge/biguint-format')

// --- its own tests ---

/** The tests of the package, as [name, run]; only the result of their `require('../../index')` is replaced. */
function testsOfThePackage(format) {
  const source = readFileSync(require.resolve('biguint-format/test/test.js'), 'utf8')
  const found = []
  const within = []
  const load = (name) => (name === '../index' ? format : require(name))
  const describe = (name, define) => {
    within.push(name)
    define()
    within.pop()
  }
  const it = (name, run) => found.push([[...within, name].join(' › '), run])
  new Function('require', 'describe', 'it', source)(load, describe, it)
  return found
}

const packageTests = testsOfThePackage(ours)

for (const [name, run] of packageTests) test(`its own test: ${name}`, (t) => t.notThrows(run))

test('there are 24 of them, and they notice a stricter reading', (t) => {
  t.is(packageTests.length, 24)
  const failing = testsOfThePackage(FlakeId.format).filter(([, run]) => {
    try {
      run()
      return false
    } catch {
      return true
    }
  })
  t.true(failing.length > 0)
})

test('it is one function, by require and by import, without other properties', (t) => {
  t.is(imported, ours)
  t.deepEqual(Object.keys(ours), Object.keys(theirs))
  t.is(ours.length, theirs.length)
})

// --- against the package itself ---

/** The result or the error of a call, for comparison. */
function outcome(call) {
  try {
    const value = call()
    return Buffer.isBuffer(value) ? `bytes ${value.toString('hex')}` : `${typeof value} ${inText(value)}`
  } catch (error) {
    return `throws ${error.constructor.name} ${error.code ?? ''} ${error.message}`
  }
}

const inText = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** Each gets its own input: neither may change it. */
function isSame(input, base, options) {
  const [mine, other] = [structured(input), structured(input)]
  const [given, expected] = [outcome(() => ours(mine, base, options)), outcome(() => theirs(other, base, options))]
  if (given !== expected) throw new Error(`${given}\n instead of \n${expected}`)
  if (inText(mine) !== inText(structured(input))) throw new Error('the input was changed')
}

const structured = (input) => (Buffer.isBuffer(input) ? Buffer.from(input) : Array.isArray(input) ? [...input] : input)

function agree(t, arbitraries, numRuns = RUNS) {
  t.notThrows(() => fc.assert(fc.property(...arbitraries, isSame), { numRuns }))
}

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array))
const eight = fc.uint8Array({ minLength: 8, maxLength: 8 }).map((array) => Buffer.from(array))
const zeros = fc.nat({ max: 20 }).map((length) => Buffer.alloc(length))
const small = fc.tuple(zeros, bytes).map((parts) => Buffer.concat(parts))
const arrays = fc.array(fc.nat({ max: 255 }), { maxLength: 20 })
const oddArrays = fc.array(
  fc.oneof(fc.integer(), fc.double(), fc.string({ maxLength: 3 }), fc.constantFrom(null, undefined, true, {}, [], [7])),
  { maxLength: 8 },
)
const hexText = fc
  .tuple(
    fc.constantFrom('', '0x', '0X', '0x0x'),
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), maxLength: 40 }),
  )
  .map((parts) => parts.join(''))
const anyText = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefx+-. \n\r\u2028\u2029g\u{1f600}'), maxLength: 16 }),
)
// biome-ignore format: one kind a line
const noNumber = fc.constantFrom(
  undefined, null, true, {}, Symbol('x'), new Date(5), () => 5,
  5, 0, 5n, Object('0x10'), new Uint8Array(8), new Uint8Array(0), new ArrayBuffer(8),
)
const numbers = fc.oneof(
  { weight: 3, arbitrary: bytes },
  { weight: 2, arbitrary: eight },
  { weight: 2, arbitrary: small },
  { weight: 1, arbitrary: zeros },
  { weight: 2, arbitrary: arrays },
  { weight: 2, arbitrary: hexText },
)
const oddNumbers = fc.oneof(oddArrays, anyText, noNumber, numbers)

const BASES = ['dec', 'hex', 'bin', 'oct']
// biome-ignore format: one kind a line
const oddBases = fc.constantFrom(
  undefined, null, '', 0, false, Number.NaN, 16, 10, 2, 5n, true, {}, [], ['hex'], Symbol('hex'), () => 'hex',
  'DEC', 'Hex', 'base32', 'base64', 'x',
  'toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf', 'isPrototypeOf', 'propertyIsEnumerable',
  'toLocaleString', '__defineGetter__', '__lookupSetter__',
)

const plainOptions = fc.record(
  {
    prefix: fc.string({ maxLength: 4 }),
    groupsize: fc.oneof(fc.integer({ min: -1, max: 9 }), fc.constantFrom('1', '3', '')),
    delimiter: fc.string({ maxLength: 3 }),
    padstr: fc.string({ maxLength: 3 }),
    size: fc.oneof(fc.integer({ min: -5, max: 100 }), fc.constantFrom('10', '')),
    trim: fc.boolean(),
    format: fc.constantFrom('BE', 'LE'),
  },
  { requiredKeys: [] },
)
const patterns = ['$', '$$', '$&', '$1', '$2', '$3', '$11', '$`', "$'", '$<x>', 'a$', '1', '$1$2-', '\n', '.']
// biome-ignore format: one kind a line
const odd = fc.constantFrom(
  undefined, null, true, false, Symbol('s'), new Date(5), () => 3,
  0, -0, 1, -1, 2.5, 0.5, 1e21, 2 ** 31, 2 ** 40, Number.NaN, Number.POSITIVE_INFINITY, 5n, 0n,
  '', '0', 'x', '3', ' 4 ', '2.5', '0x3', 'LE', 'BE', 'le', 'XX', ...patterns,
  [], [3], ['a', 'b'], {}, { length: 2 }, { length: 0 },
  { valueOf: () => 3 }, { toString: () => '4' }, { valueOf: () => 2, toString: () => 'x' },
)
const oddOptions = fc.oneof(
  fc.record(
    { prefix: odd, groupsize: odd, delimiter: odd, padstr: odd, size: odd, trim: odd, format: odd },
    { requiredKeys: [] },
  ),
  fc.constantFrom(null, undefined, 0, '', false, true, 5, 'text', [], Symbol('s'), () => {}, new Map()),
)

for (const base of BASES) {
  test(`${base}: numbers of every kind, with and without options`, (t) => {
    agree(t, [numbers, fc.constant(base)])
    agree(t, [numbers, fc.constant(base), plainOptions])
  })

  test(`${base}: unusual numbers and unusual options`, (t) => {
    agree(t, [oddNumbers, fc.constant(base)])
    agree(t, [numbers, fc.constant(base), oddOptions], RUNS * 3)
    agree(t, [oddNumbers, fc.constant(base), oddOptions])
  })

  test(`${base}: patterns in a delimiter`, (t) => {
    const delimiter = fc.oneof(
      fc.constantFrom(...patterns),
      fc.string({ unit: fc.constantFrom(..."$&1234<>`'-"), maxLength: 5 }),
    )
    const grouped = fc.record({ delimiter, groupsize: fc.integer({ min: 1, max: 5 }) })
    agree(t, [numbers, fc.constant(base), grouped])
  })

  test(`${base}: every length up to that of a long key: zeros, ones, and a single bit`, (t) => {
    for (let length = 0; length <= 70; length++) {
      for (const byte of [0, 1, 0x7f, 0x80, 0xff]) {
        const same = Buffer.alloc(length, byte)
        const first = Buffer.alloc(length)
        const last = Buffer.alloc(length)
        if (length > 0) [first[0], last[length - 1]] = [byte, byte]
        for (const id of [same, first, last]) t.notThrows(() => isSame(id, base))
      }
    }
  })
}

test('invalid bases, with numbers of every kind', (t) => {
  agree(t, [oddNumbers, oddBases])
  agree(t, [oddNumbers, oddBases, oddOptions])
  t.is(ours(Buffer.from([5]), 'base32'), undefined)
})

test('text of several lines', (t) => {
  const lines = fc.array(fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), maxLength: 6 }), { maxLength: 5 })
  const ends = fc.constantFrom('\n', '\r', '\r\n', '\u2028', '\u2029')
  agree(t, [fc.tuple(lines, ends).map(([texts, end]) => texts.join(end)), fc.constantFrom(...BASES)])
})

test("an error from an option's getter is thrown", (t) => {
  for (const name of ['prefix', 'groupsize', 'delimiter', 'padstr', 'size', 'trim', 'format']) {
    const options = Object.defineProperty({ groupsize: 2, padstr: '0', size: 30 }, name, {
      get() {
        throw new Error(`no ${name}`)
      },
    })
    for (const base of BASES) t.notThrows(() => isSame(Buffer.from([1, 2, 3]), base, options), `${base} ${name}`)
  }
})

test('the text of shared memory is read once, and the input stays unchanged', (t) => {
  const shared = Buffer.from(new SharedArrayBuffer(8)).fill(7)
  for (const base of BASES) {
    for (const options of [undefined, {}, { format: 'LE' }])
      t.is(ours(shared, base, options), theirs(Buffer.from(shared), base, options))
  }
  t.true(shared.every((byte) => byte === 7))
})

test('the same IDs as from the main entry, for input that both read alike', (t) => {
  const flake = new FlakeId({ id: 9 })
  for (let i = 0; i < 100; i++) {
    const id = flake.next()
    for (const base of ['dec', 'hex', 'bin']) t.is(ours(id, base), FlakeId.format(id, base))
  }
})
