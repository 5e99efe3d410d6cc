// Seal: against rows that Bouncy Castle made, and properties of a permutation in all forms that an ID has. That nothing of a
// key is ever shown.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import fc from 'fast-check'
import { bufferOf, FlakeId, holds, ids, MAX, throwsCode, vectors } from '../support/index.mjs'

const require = createRequire(import.meta.url)
const { Seal, format, parse, toBigInt } = FlakeId

const KEY = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex')
const ID = 7529535382561648640n
const SEALS = 300 // making a seal costs more than using it

const keys = fc.constantFrom(16, 24, 32).chain((size) => fc.uint8Array({ minLength: size, maxLength: size }))
const tweaks = fc.oneof(
  fc.constant(undefined),
  fc.uint8Array({ maxLength: 256 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
)

test('seals are those of Bouncy Castle, both ways', (t) => {
  let checked = 0
  for (const { key, tweak, ids } of vectors('seal').seals) {
    const seal = new Seal(Buffer.from(key, 'hex'), { tweak: Buffer.from(tweak, 'hex') })
    for (const [id, sealed] of ids) {
      t.is(seal.seal(`0x${id}`).toString('hex'), sealed)
      t.is(seal.open(Buffer.from(sealed, 'hex')).toString('hex'), id)
      checked++
    }
  }
  t.true(checked > 600, String(checked))
})

test('what is sealed opens again, and the other way round, under any key and tweak', (t) => {
  const isInverse = (key, tweak, id) => {
    const seal = new Seal(key, { tweak })
    return seal.openBigInt(seal.sealBigInt(id)) === id && seal.sealBigInt(seal.openBigInt(id)) === id
  }
  holds(t, [keys, tweaks, ids], isInverse, SEALS)
  const seal = new Seal(KEY)
  holds(t, [ids], (id) => seal.openBigInt(seal.sealBigInt(id)) === id)
})

test('all forms agree', (t) => {
  const seal = new Seal(KEY, { tweak: 'orders' })
  holds(t, [ids], (id) => {
    const sealed = seal.seal(id)
    const texts = [undefined, null, 'base58', 'base62'].map((base) => [base, seal.sealString(id, base)])
    return (
      Buffer.isBuffer(sealed) &&
      toBigInt(sealed) === seal.sealBigInt(id) &&
      [bufferOf(id), new Uint8Array(bufferOf(id)), String(id), `0x${id.toString(16)}`].every((form) =>
        seal.seal(form).equals(sealed),
      ) &&
      [sealed, toBigInt(sealed), format(sealed), `0x${format(sealed, 'hex')}`].every(
        (form) => seal.openBigInt(form) === id && seal.open(form).equals(bufferOf(id)),
      ) &&
      texts.every(
        ([base, text]) =>
          text.length === 11 &&
          parse(text, base ?? 'base58').equals(sealed) &&
          seal.openString(text, base).equals(bufferOf(id)),
      )
    )
  })
})

test('many IDs: each is what it is alone, in the order and the kind in which they came', (t) => {
  const seal = new Seal(KEY, { tweak: 'orders' })
  const areAlone = (all) => {
    const [numbers, bytes] = [BigUint64Array.from(all), Buffer.concat(all.map(bufferOf))]
    const alone = all.map((id) => seal.sealBigInt(id))
    const [sealedNumbers, sealedBytes] = [seal.sealAll(numbers), seal.sealAll(bytes)]
    return (
      sealedNumbers instanceof BigUint64Array &&
      Buffer.isBuffer(sealedBytes) &&
      alone.join() === sealedNumbers.join() &&
      sealedBytes.equals(Buffer.concat(alone.map(bufferOf))) &&
      seal.openAll(sealedNumbers).join() === all.join() &&
      seal.openAll(new Uint8Array(sealedBytes)).equals(bytes) &&
      numbers.join() === all.join() &&
      bytes.equals(Buffer.concat(all.map(bufferOf)))
    )
  }
  holds(t, [fc.array(ids, { maxLength: 40 })], areAlone, 400)
})

test('many IDs of take() and takeBigInts(), of a view, and of a shared array', (t) => {
  const seal = new Seal(KEY)
  const flake = new FlakeId({ id: 5, maxAheadMs: Number.POSITIVE_INFINITY })
  const [bytes, numbers] = [flake.take(5000), flake.takeBigInts(5000)]
  t.true(seal.openAll(seal.sealAll(bytes)).equals(bytes))
  t.deepEqual(seal.openAll(seal.sealAll(numbers)), numbers)
  t.is(seal.sealAll(numbers)[4999], seal.sealBigInt(numbers[4999]))
  const sealed = seal.sealAll(bytes)
  t.true(sealed.subarray(-8).equals(seal.seal(bytes.subarray(-8))))

  t.true(seal.sealAll(bytes.subarray(8, 24)).equals(sealed.subarray(8, 24)))
  t.deepEqual(seal.sealAll(numbers.subarray(3, 7)), seal.sealAll(numbers).slice(3, 7))
  const shared = new Uint8Array(new SharedArrayBuffer(16))
  shared.set(bytes.subarray(0, 16))
  t.true(seal.sealAll(shared).equals(sealed.subarray(0, 16)))
  t.true(seal.seal(shared.subarray(0, 8)).equals(seal.seal(bytes.subarray(0, 8))))
})

test('each result has its own memory', (t) => {
  const seal = new Seal(KEY)
  const results = [seal.seal(1n), seal.open(1n), seal.openString('11111111111'), seal.sealAll(Buffer.alloc(8))]
  for (const { buffer, byteOffset } of results) t.deepEqual([buffer.byteLength, byteOffset], [8, 0])
  t.is(new Set(results.map(({ buffer }) => buffer)).size, results.length)
})

test('the tweak: text is its UTF-8 bytes, and no tweak is one of no bytes', (t) => {
  const sealed = (tweak) => new Seal(KEY, { tweak }).sealBigInt(ID)
  t.is(sealed('größe😀'), sealed(Buffer.from('größe😀')))
  const none = new Seal(KEY).sealBigInt(ID)
  for (const absent of [undefined, null, '', new Uint8Array(0)]) t.is(sealed(absent), none)
  for (const options of [undefined, null, {}]) t.is(new Seal(KEY, options).sealBigInt(ID), none)
  t.not(sealed('orders'), none)
  t.notThrows(() => sealed(Buffer.alloc(256)))
  t.notThrows(() => sealed('ö'.repeat(128)))
})

test('a key and a tweak are copied', (t) => {
  const [key, tweak] = [Buffer.from(KEY), Buffer.from('orders')]
  const seal = new Seal(key, { tweak })
  const sealed = seal.sealBigInt(ID)
  key.fill(0)
  tweak.fill(0)
  t.is(seal.sealBigInt(ID), sealed)
  t.is(sealed, new Seal(KEY, { tweak: 'orders' }).sealBigInt(ID))
})

test('a text is of 11 characters of its base and at most 2^64 - 1, or the error says so', (t) => {
  const seal = new Seal(KEY)
  for (const [base, most] of Object.entries({ base58: 'jpXCZedGfVQ', base62: 'LygHa16AHYF' })) {
    const last = most.slice(0, -1) + String.fromCharCode(most.charCodeAt(10) + 1)
    t.notThrows(() => seal.openString(most, base))
    const short = most.slice(1)
    for (const wrong of [last, short, `${most}1`, '', `${short}-`, `${short}é`, ` ${most}`, 5n]) {
      const { message } = throwsCode(t, () => seal.openString(wrong, base), 'ERR_FLAKE_ID', TypeError)
      for (const part of [String(wrong), base, '11 characters', most]) t.true(message.includes(part), message)
    }
  }
  throwsCode(t, () => seal.openString('0OIl1111111'), 'ERR_FLAKE_ID', TypeError)
})

test('memory that was transferred is no key, no tweak and no IDs', (t) => {
  const gone = (array) => {
    structuredClone(array.buffer, { transfer: [array.buffer] })
    return array
  }
  const seal = new Seal(new Uint8Array(32))
  for (const call of ['sealAll', 'openAll']) {
    for (const ids of [new Uint8Array(8), new BigUint64Array(2)]) {
      t.regex(
        throwsCode(t, () => seal[call](gone(ids)), 'ERR_FLAKE_ID', TypeError).message,
        /its memory was transferred/,
      )
    }
  }
  throwsCode(t, () => new Seal(gone(new Uint8Array(32))), 'ERR_FLAKE_OPTION', RangeError)
  const tweak = gone(new Uint8Array(4))
  throwsCode(t, () => new Seal(new Uint8Array(32), { tweak }), 'ERR_FLAKE_OPTION', TypeError)
  t.is(seal.sealAll(new Uint8Array(0)).length, 0)
})

test('a prefix stands before the text, and changes nothing else', (t) => {
  const plain = new Seal(KEY, { tweak: 'orders' })
  for (const prefix of ['o', 'ord_', 'order_line_2_', 'a'.repeat(16)]) {
    const seal = new Seal(KEY, { tweak: 'orders', prefix })
    holds(
      t,
      [ids, fc.constantFrom(undefined, 'base58', 'base62')],
      (id, base) => {
        const text = seal.sealString(id, base)
        return (
          text === prefix + plain.sealString(id, base) &&
          seal.openString(text, base).equals(bufferOf(id)) &&
          seal.sealBigInt(id) === plain.sealBigInt(id) &&
          seal.openBigInt(plain.seal(id)) === id
        )
      },
      SEALS,
    )
  }
  for (const prefix of [null, undefined]) t.is(new Seal(KEY, { tweak: 'orders', prefix }).sealString(ID), 'NKpxe37qMLE')
})

test('a text with another prefix is refused, and the error names both', (t) => {
  const [orders, users, plain] = ['ord_', 'usr_', undefined].map((prefix) => new Seal(KEY, { prefix }))
  const text = users.sealString(ID)
  const { message } = throwsCode(t, () => orders.openString(text), 'ERR_FLAKE_ID', TypeError)
  t.is(message, `'${text}' is not an ID with the prefix 'ord_': it begins with 'usr_'`)
  for (const [seal, wrong] of [
    [orders, plain.sealString(ID)],
    [orders, orders.sealString(ID).replace('ord_', 'Ord_')],
    [orders, `ord_${orders.sealString(ID)}`],
    [plain, text],
  ])
    t.is(throwsCode(t, () => seal.openString(wrong), 'ERR_FLAKE_ID', TypeError).value, wrong)
  t.regex(throwsCode(t, () => orders.open(orders.sealString(ID)), 'ERR_FLAKE_ID', TypeError).message, /openString\(\)/)
})

test('only bases of 11 characters are taken', (t) => {
  const seal = new Seal(KEY)
  for (const base of ['dec', 'hex', 'base32', 'base36', 'base64', '', 5, false]) {
    for (const call of [() => seal.sealString(ID, base), () => seal.openString('11111111111', base)]) {
      const { message } = throwsCode(t, call, 'ERR_FLAKE_OPTION', RangeError)
      t.true(message.includes("one of 'base58', 'base62'"), message)
    }
  }
})

test('what is no ID is refused, and open() names the call for text', (t) => {
  const seal = new Seal(KEY)
  for (const wrong of [-1n, MAX + 1n, '', 'x', Buffer.alloc(7), null, undefined, 1.5, {}]) {
    for (const method of ['seal', 'sealBigInt', 'sealString', 'open', 'openBigInt'])
      throwsCode(t, () => seal[method](wrong), 'ERR_FLAKE_ID', TypeError)
  }
  for (const base of ['base58', 'base62']) {
    const text = seal.sealString(ID, base)
    const { message } = throwsCode(t, () => seal.open(text), 'ERR_FLAKE_ID', TypeError)
    t.true(message.includes(text) && message.includes('openString()'), message)
  }
  t.notThrows(() => seal.open('12345678901'))
  t.notThrows(() => seal.open('0x123456789'))
  t.notThrows(() => seal.open('0b101010101'))
})

test('many IDs are bytes or bigints, and whole ones', (t) => {
  const seal = new Seal(KEY)
  for (const wrong of [[1n], 5n, '5', null, undefined, new BigInt64Array(1), new Uint16Array(4), new ArrayBuffer(8)]) {
    for (const method of ['sealAll', 'openAll']) {
      const { message } = throwsCode(t, () => seal[method](wrong), 'ERR_FLAKE_ID', TypeError)
      t.true(message.includes('take() or takeBigInts()'), message)
    }
  }
  const { message } = throwsCode(t, () => seal.sealAll(Buffer.alloc(12)), 'ERR_FLAKE_ID', TypeError)
  t.true(message.includes('12 bytes'), message)
  t.is(seal.sealAll(Buffer.alloc(0)).length, 0)
  t.is(seal.openAll(new BigUint64Array(0)).length, 0)
})

test('a key of another length or type is refused: the length, the bound and the way out, and never the key', (t) => {
  const secret = randomBytes(64)
  const hidden = [
    secret.toString('hex').slice(0, 32),
    secret.toString('base64').slice(0, 20),
    [...secret.subarray(0, 5)].join(', '),
  ]
  const refused = (make, Type, ...parts) => {
    const error = throwsCode(t, make, 'ERR_FLAKE_OPTION', Type)
    const all = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error)
    for (const text of [...hidden, secret.toString('hex').match(/../g).slice(0, 5).join(' ')])
      t.false(all.includes(text), all)
    for (const part of parts) t.true(error.message.includes(part), error.message)
    return error
  }
  const WAY_OUT = ['16, 24 or 32 bytes', 'crypto.randomBytes(32)', "Buffer.from(text, 'hex')"]
  for (const length of [0, 1, 15, 17, 23, 25, 31, 33, 64]) {
    refused(() => new Seal(secret.subarray(0, length)), RangeError, `has ${length}.`, ...WAY_OUT)
  }
  const text = secret.toString('hex').slice(0, 64)
  for (const [wrong, kind] of [
    [text, 'text of 64 characters'],
    [[...secret.subarray(0, 32)], 'an object of class Array'],
    [BigInt(`0x${text}`), 'a bigint'],
    [new Uint8Array(secret).buffer, 'an object of class ArrayBuffer'],
    [new Uint16Array(16), 'an object of class Uint16Array'],
    [{ key: secret }, 'an object of class Object'],
    [undefined, 'undefined'],
    [null, 'null'],
    [Symbol('x'), 'a symbol'],
  ]) {
    t.is(refused(() => new Seal(wrong), TypeError, kind, ...WAY_OUT).option, 'key')
  }
  const key = secret.subarray(0, 32)
  const BOUND = '0 to 256 bytes'
  refused(() => new Seal(KEY, { tweak: Buffer.concat([key, Buffer.alloc(225)]) }), RangeError, BOUND, 'has 257')
  refused(() => new Seal(KEY, { tweak: 'ö'.repeat(129) }), RangeError, BOUND, 'has 258')
  refused(() => new Seal(KEY, { tweak: '\ud800' }), RangeError, 'surrogate')
  for (const tweak of [5, true, [...key], {}]) refused(() => new Seal(KEY, { tweak }), TypeError, BOUND)
  for (const options of ['orders', key, [...key], 5])
    refused(() => new Seal(KEY, options), TypeError, '{ tweak, prefix }')
  const FORM = '1 to 16 of a–z, 0–9 and _'
  for (const prefix of [text, '', '_', 'Ord_', '1_', 'ord-', 'ö_', 'a'.repeat(17)])
    t.is(refused(() => new Seal(KEY, { prefix }), RangeError, FORM).option, 'prefix')
  for (const prefix of [5, true, key, ['a_']]) refused(() => new Seal(KEY, { prefix }), TypeError, FORM)
  refused(() => new Seal(KEY, { key }), TypeError, "'key'", 'tweak')
  refused(() => new Seal(KEY, { tweek: key }), TypeError, "'tweek'", "'tweak'")
})

test('nothing that prints or copies a seal shows its key', (t) => {
  const seal = new Seal(KEY, { tweak: 'orders' })
  t.is(inspect(seal, { depth: 9, showHidden: true, getters: true }), 'Seal {}')
  t.is(JSON.stringify({ seal }), '{"seal":{}}')
  t.deepEqual(Reflect.ownKeys(seal), [])
  t.is(inspect(structuredClone(seal)), '{}')
})

test('workers with the same key make the same seals', async (t) => {
  const program = `
    const { parentPort, workerData: { root, key, tweak, ids } } = require('node:worker_threads')
    const { Seal } = require(root)
    parentPort.postMessage(new Seal(key, { tweak }).sealAll(ids))`
  const ids = new FlakeId({ id: 6, maxWaitMs: 1000 }).takeBigInts(2000)
  const workerData = { root: require.resolve('flakeforge'), key: KEY, tweak: 'orders', ids }
  const workers = [1, 2, 3].map(() => new Worker(program, { eval: true, workerData }))
  const answers = workers.map((worker) => once(worker, 'message'))
  const expected = new Seal(KEY, { tweak: 'orders' }).sealAll(ids)
  for (const [sealed] of await Promise.all(answers)) t.deepEqual(sealed, expected)
})
