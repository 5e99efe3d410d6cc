// jsonReplacer and jsonReviver: bigints survive real JSON in both directions, whatever surrounds them; and values that
// have lost digits are rejected, not guessed.

import { inspect } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import { FlakeId, holds, ids, jsonOfChild, throwsCode } from '../support/index.mjs'

const { jsonReplacer, jsonReviver, layouts } = FlakeId
const write = (value) => JSON.stringify(value, jsonReplacer)
const read = (text, ...keys) => JSON.parse(text, jsonReviver(keys))
const ID = 7529535382561648641n
const hasSource = JSON.parse('1', (_key, _value, context) => context?.source) === '1' // Node 21

// --- writing ---

test('every bigint is decimal text, wherever it is', (t) => {
  t.is(write(ID), '"7529535382561648641"')
  t.is(write({ id: ID, of: [{ id: 0n }, [-5n, 2n ** 80n]] }), `{"id":"${ID}","of":[{"id":"0"},["-5","${2n ** 80n}"]]}`)
  class Row {
    id = ID
    toJSON() {
      return { id: this.id, at: new Date(0) }
    }
  }
  t.is(write([new Row()]), `[{"id":"${ID}","at":"1970-01-01T00:00:00.000Z"}]`)
})

test('everything else is written as JSON writes it', (t) => {
  const others = {
    number: 1.5,
    text: '5',
    date: new Date(0),
    buffer: Buffer.alloc(9, 7),
    map: new Map([[1, 2]]),
    none: undefined,
    nothing: null,
    list: [undefined, Number.NaN, -0, true],
  }
  t.is(write(others), JSON.stringify(others))
  holds(t, [fc.jsonValue()], (value) => write(value) === JSON.stringify(value))
})

test('the IDs of a batch are an array of decimal texts', (t) => {
  const text = write({ ids: BigUint64Array.of(ID, 5n), none: new BigUint64Array() })
  t.is(text, `{"ids":["${ID}","5"],"none":[]}`)
  t.deepEqual(read(text, 'ids').ids, [ID, 5n])
})

test('signed values of a batch are an array of decimal texts', (t) => {
  t.is(write({ ids: BigInt64Array.of(-5n, 7n), none: new BigInt64Array() }), '{"ids":["-5","7"],"none":[]}')
})

test('an ID from next(), a Buffer or a Uint8Array of 8 bytes, is decimal text too', (t) => {
  const id = layouts.flake.encode(layouts.flake.decode(ID))
  t.is(write({ id, list: [id, Uint8Array.from(id)] }), `{"id":"${ID}","list":["${ID}","${ID}"]}`)
  t.is(write(id), `"${ID}"`)
  t.is(write([Buffer.alloc(7), new Uint8Array(9)]), JSON.stringify([Buffer.alloc(7), new Uint8Array(9)]))
})

test('a toJSON of BigInt that returns numbers loses no digits', async (t) => {
  const source = `
    BigInt.prototype.toJSON = function () { return Number(this) }
    const value = { id: 7529535382561648641n, list: [7529535382561648641n], n: 5 }
    const { jsonReplacer } = FlakeId
    console.log(JSON.stringify([JSON.stringify(value, jsonReplacer), JSON.stringify(7529535382561648641n, jsonReplacer)]))`
  const [value, alone] = await jsonOfChild(t, source)
  t.is(value, `{"id":"${ID}","list":["${ID}"],"n":5}`)
  t.is(alone, `"${ID}"`)
})

test("it works inside another replacer, without JSON.stringify's this", (t) => {
  const hideSecrets = (key, value) => (key === 'secret' ? undefined : jsonReplacer(key, value))
  t.is(JSON.stringify({ id: ID, secret: 'x', n: 1 }, hideSecrets), `{"id":"${ID}","n":1}`)
  const bytes = layouts.flake.encode(layouts.flake.decode(ID))
  const all = { bytes, plain: Uint8Array.from(bytes), ids: BigUint64Array.of(ID), short: Buffer.alloc(7), none: null }
  t.is(JSON.stringify(all, hideSecrets), write(all))
})

// --- reading ---

test('the named keys become bigints again, at any depth, and no others', (t) => {
  const value = { id: ID, order: { userId: 5n, id: null, note: '12', n: 7 }, rows: [{ id: 0n }, { x: '1' }] }
  t.deepEqual(read(write(value), 'id', 'userId'), value)
})

test('an array under a key is read element by element', (t) => {
  t.deepEqual(read('{"ids":["1",null,["2"]],"others":["1"]}', 'ids'), { ids: [1n, null, [2n]], others: ['1'] })
  t.deepEqual(read('{"ids":[]}', 'ids'), { ids: [] })
  t.deepEqual(read('["1","2"]', ''), [1n, 2n])
  t.is(read('"1"', ''), 1n)
})

test('64-bit text from jsonReplacer comes back, signed or not', (t) => {
  const signed = fc.bigInt({ min: -(2n ** 63n), max: -1n })
  const numbers = fc.oneof(ids, signed)
  holds(t, [numbers, fc.array(numbers)], (id, more) => {
    const back = read(write({ id, deep: [{ more }] }), 'id', 'more')
    return back.id === id && back.deep[0].more.every((one, i) => one === more[i])
  })
})

test('text with leading zeros is the same number', (t) => {
  t.is(read('{"id":"00000000000000000042"}', 'id').id, 42n)
})

test('a number is accepted where it is exact', (t) => {
  t.deepEqual(read('{"id":5,"ids":[0,-1,9007199254740991]}', 'id', 'ids'), {
    id: 5n,
    ids: [0n, -1n, 9007199254740991n],
  })
  t.is(read('{"id":1e3}', 'id').id, 1000n)
  t.is(jsonReviver(['id'])('id', ID), ID, 'from a parser that knows bigints')
})

test('a number that has lost digits is an error, unless the parser passes its text', (t) => {
  const reviver = jsonReviver(['id'])
  const lost = Number(ID)
  const error = throwsCode(t, () => reviver('id', lost), 'ERR_FLAKE_ID', TypeError)
  t.regex(error.message, /key 'id'.*53 bits.*JSON\.stringify\(value, jsonReplacer\)/)
  t.deepEqual([error.key, error.value], ['id', lost])
  throwsCode(t, () => reviver('id', [lost]), 'ERR_FLAKE_ID', TypeError) // no text of the elements
  throwsCode(t, () => reviver('id', 2 ** 53), 'ERR_FLAKE_ID', TypeError)
  t.is(reviver('id', lost, { source: String(ID) }), ID)
  throwsCode(t, () => reviver('id', 2 ** 65, { source: String(2n ** 65n) }), 'ERR_FLAKE_ID', TypeError)
  throwsCode(t, () => reviver('id', 1e19, { source: '1e19' }), 'ERR_FLAKE_ID', TypeError)
  t.is(reviver('id', 1000, { source: '1e3' }), 1000n)

  const text = `{"id":${ID}}`
  if (hasSource) t.is(read(text, 'id').id, ID)
  else throwsCode(t, () => read(text, 'id'), 'ERR_FLAKE_ID', TypeError)

  const list = `{"ids":[${ID},5,[${ID - 1n}]],"rows":[${lost}],"deep":{"ids":[[${ID}]]}}`
  if (hasSource) t.deepEqual(read(list, 'ids'), { ids: [ID, 5n, [ID - 1n]], rows: [lost], deep: { ids: [[ID]] } })
  else throwsCode(t, () => read(list, 'ids'), 'ERR_FLAKE_ID', TypeError)
})

const tooMany = ['18446744073709551616', '-9223372036854775809', '9'.repeat(1_000_000), `${'0'.repeat(20)}1`]
// biome-ignore format: one kind a line
const wrong = [
  '', ' 1', '1 ', '0x5', '1n', '1e3', '1.0', '+1', '--1', '-', 'abc', '１', ...tooMany,
  true, {}, { id: '1' }, 1.5,
]

for (const [i, value] of wrong.entries()) {
  test(`rejected, with the key: ${i}, ${inspect(value).slice(0, 40)}`, (t) => {
    for (const under of [value, ['1', value]]) {
      const text = JSON.stringify({ deep: { userId: under } })
      const error = throwsCode(t, () => read(text, 'userId'), 'ERR_FLAKE_ID', TypeError)
      t.regex(error.message, /The value of key 'userId' must be an ID as decimal text/)
      t.is(error.key, 'userId')
      t.deepEqual(error.value, value)
      t.true(error.message.length < 400)
    }
  })
}

for (const [keys, option, Type] of [
  [null, 'keys', TypeError],
  ['id', 'keys', TypeError],
  [new Set(['id']), 'keys', TypeError],
  [[], 'keys', RangeError],
  [['id', 5], 'keys[1]', TypeError],
  [['id', null], 'keys[1]', TypeError],
  [[Symbol('id')], 'keys[0]', TypeError],
]) {
  test(`rejected as keys: ${inspect(keys)}`, (t) => {
    const error = throwsCode(t, () => jsonReviver(keys), 'ERR_FLAKE_OPTION', Type)
    t.is(error.option, option)
  })
}

test('a later change of the array of keys changes nothing', (t) => {
  const keys = ['id']
  const reviver = jsonReviver(keys)
  keys[0] = 'x'
  t.deepEqual(JSON.parse('{"id":"1","x":"1"}', reviver), { id: 1n, x: '1' })
})

test('keys that every object has are ordinary keys', (t) => {
  t.deepEqual(read('{"constructor":"1","toString":"2"}', 'constructor'), { constructor: 1n, toString: '2' })
})

// --- reading without keys ---

const withSource = hasSource ? test : test.skip
const readAll = (text) => JSON.parse(text, jsonReviver())

if (!hasSource) {
  test('without keys it is an error where JSON.parse does not show the text of numbers', (t) => {
    const error = throwsCode(t, () => jsonReviver(), 'ERR_FLAKE_OPTION', TypeError)
    t.is(error.option, 'keys')
    t.regex(error.message, /keys must be an array of keys.*needs Node\.js 21 or newer/)
  })
}

withSource('without keys, integers beyond 2^53 become bigints, wherever they are', (t) => {
  t.deepEqual(readAll(`{"id":${ID},"of":[${ID},{"n":-${ID}}],"n":5}`), { id: ID, of: [ID, { n: -ID }], n: 5 })
  t.is(readAll(`${ID}`), ID)
  t.is(readAll('9007199254740991'), 9007199254740991)
  t.is(readAll('-9007199254740991'), -9007199254740991)
  t.is(readAll('9007199254740992'), 9007199254740992n)
  t.is(readAll('9007199254740993'), 9007199254740993n)
  t.is(readAll('-9007199254740992'), -9007199254740992n)
  t.is(readAll('9'.repeat(400)), 10n ** 400n - 1n)
})

withSource('without keys, everything else equals the result of JSON.parse', (t) => {
  // biome-ignore format: a line is enough
  const others = ['1e20', '1E20', '1.0', '-0', '9007199254740993.0', '1e400', '-1.5e-7', `"${ID}"`, 'null', 'true', '"1n"']
  for (const text of others) t.is(readAll(text), JSON.parse(text), text)
  holds(t, [fc.json()], (text) => {
    const isSmall = !/\d{16}/.test(text)
    return !isSmall || inspect(readAll(text), false, null) === inspect(JSON.parse(text), false, null)
  })
})

withSource('without keys, every integer is exactly the written one', (t) => {
  holds(t, [fc.array(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }))], (numbers) => {
    const back = readAll(`[${numbers}]`)
    const isSafe = (number) => number >= Number.MIN_SAFE_INTEGER && number <= Number.MAX_SAFE_INTEGER
    return numbers.every((number, i) => back[i] === (isSafe(number) ? Number(number) : number))
  })
})
