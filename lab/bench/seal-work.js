'use strict'

// The measured calls of Seal, and of its alternatives: Sqids, which has no secret, and a block of AES by Node.js
// itself, which has 128 bits. All get the same IDs.

const KEY = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex')
const MANY = 4096

const seal = (bytes = 32) => new (require('../..').Seal)(KEY.subarray(0, bytes), { tweak: 'orders' })
const someIds = () => Array.from({ length: 256 }, (_, i) => 7529535382561648640n + BigInt(i * 4_194_305))
const inBytes = (id) => require('../..').parse(String(id))

/** A call that uses one value after the other: with equal values, a compiler could do the work only once. */
function each(values, call) {
  let i = 0
  return () => call(values[i++ & 255])
}

/** A method of a seal, on IDs that `convert` has converted. */
function method(name, convert, ...args) {
  const sealing = seal()
  const values = someIds().map((id) => convert(id, sealing))
  return each(values, (value) => sealing[name](value, ...args))
}

const sqids = () => new (require('sqids').default)()
const halves = (id) => [Number(id >> 32n), Number(id & 0xffffffffn)] // it accepts numbers, and 64 bits are too many for one

/** A reused cipher. It turns 16 bytes into 16, so an ID gets 8 more, and 22 characters as text. */
function aesBlock() {
  const cipher = require('node:crypto').createCipheriv('aes-256-ecb', KEY, null).setAutoPadding(false)
  const blocks = someIds().map((id) => Buffer.concat([Buffer.alloc(8), inBytes(id)]))
  return each(blocks, (block) => cipher.update(block))
}

/** Calls, as in work.js. */
const SEAL_CALLS = {
  'seal(Buffer)': () => method('seal', inBytes),
  'open(Buffer)': () => method('open', inBytes),
  'sealBigInt(bigint)': () => method('sealBigInt', (id) => id),
  'openBigInt(bigint)': () => method('openBigInt', (id) => id),
  'sealString(bigint)': () => method('sealString', (id) => id),
  "sealString(bigint, 'base62')": () => method('sealString', (id) => id, 'base62'),
  'openString(text)': () => method('openString', (id, sealing) => sealing.sealString(id)),
  'new Seal(key, { tweak })': () => () => seal(),
  'sqids: encode': () => {
    const coder = sqids()
    return each(someIds().map(halves), (numbers) => coder.encode(numbers))
  },
  'sqids: decode': () => {
    const coder = sqids()
    return each(
      someIds().map((id) => coder.encode(halves(id))),
      (text) => coder.decode(text),
    )
  },
  'node:crypto: AES-256-ECB, one block': aesBlock,
}

const manyIds = () => BigUint64Array.from({ length: MANY }, (_, i) => 7529535382561648640n + BigInt(i * 4_194_305))

/** Batches, as in work.js. */
const SEAL_BATCHES = {
  [`sealAll(${MANY} bigints)`]: [MANY, () => ofMany('sealAll', manyIds())],
  [`openAll(${MANY} bigints)`]: [MANY, () => ofMany('openAll', manyIds())],
  [`sealAll(${MANY} in a Buffer)`]: [MANY, () => ofMany('sealAll', Buffer.concat(Array.from(manyIds(), inBytes)))],
}

function ofMany(name, ids) {
  const sealing = seal()
  return () => sealing[name](ids)
}

module.exports = { SEAL_CALLS, SEAL_BATCHES, MANY }
