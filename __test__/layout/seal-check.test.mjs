// The check characters of sealed IDs: against AES-CMAC computed by node:crypto, and how many wrong texts they refuse.

import { createCipheriv, randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import { ALPHABETS, bufferOf, FlakeId, holds, ids, throwsCode } from '../support/index.mjs'

const { Seal } = FlakeId

const KEY = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex')
const ID = 7529535382561648640n

// --- AES-CMAC, NIST SP 800-38B and RFC 4493, by node:crypto ---

const xor = (a, b) => a.map((byte, i) => byte ^ b[i])

function doubled(block) {
  const value = BigInt(`0x${block.toString('hex')}`)
  const next = BigInt.asUintN(128, value << 1n) ^ (value >> 127n ? 0x87n : 0n)
  return Buffer.from(next.toString(16).padStart(32, '0'), 'hex')
}

function cmac(key, message) {
  const encrypt = (block) =>
    createCipheriv(`aes-${key.length * 8}-ecb`, key, null)
      .setAutoPadding(false)
      .update(block)
  const full = doubled(encrypt(Buffer.alloc(16)))
  const size = Math.max(1, Math.ceil(message.length / 16)) * 16
  const isFull = size === message.length
  const padded = Buffer.concat([message, Buffer.from([0x80]), Buffer.alloc(16)]).subarray(0, size)
  const blocks = Array.from({ length: size / 16 }, (_, i) => padded.subarray(i * 16, i * 16 + 16))
  blocks.push(xor(blocks.pop(), isFull ? full : doubled(full)))
  return blocks.reduce((chained, block) => encrypt(xor(block, chained)), Buffer.alloc(16))
}

test('this CMAC gives the examples of RFC 4493', (t) => {
  const key = Buffer.from('2b7e151628aed2a6abf7158809cf4f3c', 'hex')
  const message = Buffer.from('6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411', 'hex')
  t.is(cmac(key, Buffer.alloc(0)).toString('hex'), 'bb1d6929e95937287fa37d129b756746')
  t.is(cmac(key, message.subarray(0, 16)).toString('hex'), '070a16b46b4d4144f79bdd9dd04a287c')
  t.is(cmac(key, message).toString('hex'), 'dfa66747de9ae63030ca32611497c827')
})

/** The last digits of a number in a base. */
function lastDigits(number, base, count) {
  const digits = ALPHABETS[base]
  let [text, rest] = ['', number]
  for (let i = 0; i < count; i++) {
    text = digits[Number(rest % BigInt(digits.length))] + text
    rest /= BigInt(digits.length)
  }
  return text
}

/** The check characters of a sealed ID, as docs/data/public-ids.md describes them. */
function expected(key, tweak, sealed, base, count) {
  const code = cmac(cmac(key, Buffer.concat([Buffer.from('flakeforge check'), tweak])), sealed)
  return lastDigits(code.readBigUInt64BE(), base, count)
}

const cases = [
  fc.constantFrom(16, 24, 32).chain((size) => fc.uint8Array({ minLength: size, maxLength: size })),
  fc.uint8Array({ maxLength: 40 }),
  ids,
  fc.constantFrom('base58', 'base62'),
  fc.constantFrom(2, 3),
]

test('the check characters are those of node:crypto, after the text of a seal without them', (t) => {
  const isRight = (key, tweak, id, base, check) => {
    const [seal, plain] = [new Seal(key, { tweak, check }), new Seal(key, { tweak })]
    const text = seal.sealString(id, base)
    return (
      text ===
        plain.sealString(id, base) + expected(Buffer.from(key), Buffer.from(tweak), plain.seal(id), base, check) &&
      seal.openString(text, base).equals(bufferOf(id)) &&
      seal.sealBigInt(id) === plain.sealBigInt(id)
    )
  }
  holds(t, cases, isRight, 300)
})

test('a text of the page', (t) => {
  const text = (check, prefix) => new Seal(KEY, { tweak: 'orders', check, prefix }).sealString(ID)
  t.deepEqual(
    [0, 2, 3].map((check) => text(check)),
    ['NKpxe37qMLE', 'NKpxe37qMLEYZ', 'NKpxe37qMLE5YZ'],
  )
  t.is(text(2, 'ord_'), 'ord_NKpxe37qMLEYZ')
  for (const absent of [undefined, null]) t.is(text(absent), 'NKpxe37qMLE')
})

/** How many of these texts a seal opens. */
function opened(seal, texts) {
  let count = 0
  for (const text of texts) {
    try {
      seal.openString(text)
      count++
    } catch (error) {
      if (error.code !== 'ERR_FLAKE_ID') throw error
    }
  }
  return count
}

const DIGITS = ALPHABETS.base58

function* withTypo(text) {
  for (let at = 0; at < text.length; at++) {
    for (const digit of DIGITS) if (digit !== text[at]) yield text.slice(0, at) + digit + text.slice(at + 1)
  }
}

function* withSwap(text) {
  for (let at = 1; at < text.length; at++) {
    if (text[at] !== text[at - 1]) yield text.slice(0, at - 1) + text[at] + text[at - 1] + text.slice(at + 1)
  }
}

test('one in 58² wrong texts is not noticed, and none whose error is in the check characters', (t) => {
  const seal = new Seal(KEY, { tweak: 'orders', check: 2 })
  let [inId, tried, swapped, swaps] = [0, 0, 0, 0]
  for (let i = 0n; i < 160n; i++) {
    const text = seal.sealString(ID + i)
    const typos = [...withTypo(text)]
    const [inText, inCheck] = [typos.slice(0, 11 * 57), typos.slice(11 * 57)]
    t.is(opened(seal, inCheck), 0)
    inId += opened(seal, inText)
    tried += inText.length
    const others = [...withSwap(text)]
    swapped += opened(seal, others)
    swaps += others.length
  }
  t.true(tried > 99_000)
  const rate = inId / tried
  t.true(rate > 0.6 / 3364 && rate < 1.4 / 3364, `${inId} of ${tried} typos`)
  t.true(swaps > 1500 && swapped <= 5, `${swapped} of ${swaps} swaps`)
})

test('guesses: 1 of 3,364 and 1 of 195,112', (t) => {
  for (const [check, most] of [
    [2, 3364],
    [3, 195_112],
  ]) {
    const seal = new Seal(KEY, { check })
    const body = new Seal(KEY).sealString(ID)
    const endings = Array.from({ length: check === 2 ? most : 5000 }, (_, i) => lastDigits(BigInt(i), 'base58', check))
    const right = seal.sealString(ID).slice(11)
    t.is(opened(seal, new Set([...endings, right].map((ending) => body + ending))), 1)
    t.is(DIGITS.length ** check, most)
  }
})

test('a text of another key, tweak or number of characters is refused', (t) => {
  const seal = new Seal(KEY, { tweak: 'orders', check: 3 })
  const others = [
    new Seal(KEY, { tweak: 'users', check: 3 }),
    new Seal(KEY, { check: 3 }),
    new Seal(KEY.subarray(16), { tweak: 'orders', check: 3 }),
    new Seal(KEY, { tweak: 'orders', check: 2 }),
    new Seal(KEY, { tweak: 'orders' }),
  ]
  for (const other of others) {
    for (let i = 0n; i < 50n; i++)
      throwsCode(t, () => seal.openString(other.sealString(ID + i)), 'ERR_FLAKE_ID', TypeError)
  }
  throwsCode(t, () => others[4].openString(seal.sealString(ID)), 'ERR_FLAKE_ID', TypeError)
})

test('the errors: what is wrong, and never the right characters', (t) => {
  const seal = new Seal(KEY, { tweak: 'orders', check: 2, prefix: 'ord_' })
  const text = seal.sealString(ID)
  const wrong = `${text.slice(0, -1)}${text.endsWith('2') ? '3' : '2'}`
  const error = throwsCode(t, () => seal.openString(wrong), 'ERR_FLAKE_ID', TypeError)
  t.is(error.value, wrong)
  t.regex(error.message, /its check characters are wrong. Either it was mistyped, or another seal made it$/)
  t.false((error.message + inspect(error, { showHidden: true })).includes(text.slice(-2)))
  for (const other of [
    text.slice(0, -1),
    `${text}1`,
    `ord_${'z'.repeat(13)}`,
    text.toUpperCase(),
    `${text.slice(0, -3)}0YZ`,
    '',
    5n,
    undefined,
  ]) {
    const { message, value } = throwsCode(t, () => seal.openString(other), 'ERR_FLAKE_ID', TypeError)
    t.is(value, other)
    if (/^ord_/i.test(String(other))) t.regex(message, /13 characters of base58, after the prefix 'ord_'$/)
  }
  t.regex(
    throwsCode(t, () => seal.openString(text.replace('ord', 'usr')), 'ERR_FLAKE_ID', TypeError).message,
    /'ord_'.*'usr_'$/,
  )
  t.regex(
    throwsCode(
      t,
      () => new Seal(KEY, { check: 2 }).open(new Seal(KEY, { check: 2 }).sealString(ID)),
      'ERR_FLAKE_ID',
      TypeError,
    ).message,
    /openString\(\)/,
  )
})

test('only 0, 2 or 3 characters, and no value of another type is shown', (t) => {
  const secret = randomBytes(32)
  for (const check of [1, 4, -1, 1.5, Number.NaN, '2', true, secret, [...secret], 2n]) {
    const Type = typeof check === 'number' ? RangeError : TypeError
    const error = throwsCode(t, () => new Seal(KEY, { check }), 'ERR_FLAKE_OPTION', Type)
    t.is(error.option, 'check')
    t.regex(error.message, /^check must be 0, 2 or 3 characters, but is /)
    t.false(inspect(error, { showHidden: true }).includes([...secret.subarray(0, 4)].join(', ')))
  }
  t.is(inspect(new Seal(KEY, { prefix: 'ord_', check: 2 })), "Seal { prefix: 'ord_', check: 2 }")
  t.is(inspect(new Seal(KEY, { check: 0 })), 'Seal {}')
})
