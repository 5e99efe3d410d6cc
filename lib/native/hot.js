'use strict'

// The JavaScript half of src/hot.rs: the scratch array that passes IDs between JavaScript and native code, and the raw
// functions. A call sets `index[0]` to the generator's index and calls `claim()`; the ID is then in `bytes` and `id`.
// IDs of a batch go into an array that is passed as an argument. For a few IDs that is `few`, because passing another
// one costs more than the IDs.
//
// It must never give `memory`, `few`, `some` or a view of them to users: native code writes there.

const native = require('../native/index.js')
const { nsOfMs } = require('../base/check.js')

/** Why the addon gave no ID; the same numbers as `Status` in src/hot.rs. */
const STATUS = {
  ...{ OK: 0, OVERFLOW: 1, CLOCK_BACKWARDS: 2, TIME_RANGE: 3, NO_GENERATOR: 4, NOT_OF_LAYOUT: 5 },
  ...{ WINDOW_END: 6, FILE: 7 },
}

// The same list as `Scratch` in src/hot.rs. It has its own ArrayBuffer, because V8 moves a small typed array
// until somebody asks for its buffer.
const memory = new ArrayBuffer(64 + 57 * 8 + 16)
const bytes = new Uint8Array(memory, 0, 8) // the ID, big-endian
const id = new BigUint64Array(memory, 8, 1) // the ID as a number
const index = new Uint32Array(memory, 16, 1) // in: which generator or layout
const base = new Uint32Array(memory, 20, 1) // in: which base, as an index into native.bases()
const time = new Float64Array(memory, 24, 2) // in, with a user's clock: Unix ms, and nanoseconds beyond them
const refusal = new Float64Array(memory, 40, 3) // out, when refused: retryAfterMs, behindMs, timestamp
const parts = new Float64Array(memory, 64, 57) // an ID's: Unix ms, counter, node, mode; and, out of `unpack()`, node fields
// In: how many IDs of a batch are made or written as text so far, and how many are wanted. Out: how many are made; from
// `spellSome()`, the width of each text, or 0 if they differ.
const batch = new Float64Array(memory, 520, 2)

const FEW = 8 // V8 makes an array of 64 bytes in 16 ns, and a larger one in 150
const fewNumbers = new BigUint64Array(FEW)
const few = new Uint8Array(fewNumbers.buffer)

const SOME = 32 // how many IDs one call writes as text, as in src/hot.rs
const some = new Uint8Array(SOME * 8) // IDs that are made only to become text

const generators = new native.Generators(new Uint8Array(memory))
const { claim, claimText, fillBytes, fillNumbers, spell, spellSome, unpack, pack } = generators.functions()

// The class behind Buffer makes 8 bytes with their own memory in 25 ns; Buffer.alloc(8) takes 31 and gives the same.
// Runtimes without such a class use Buffer.alloc.
const FastBuffer = Buffer[Symbol.species]
const isFast =
  typeof FastBuffer === 'function' &&
  FastBuffer !== Buffer &&
  FastBuffer.prototype instanceof Uint8Array &&
  Buffer.isBuffer(new FastBuffer(8))

/**
 * The ID that was just claimed as a Buffer in an ArrayBuffer of its own. It copies byte by byte, because `set` costs 20
 * ns more.
 */
function toBuffer() {
  const buffer = isFast ? new FastBuffer(8) : Buffer.alloc(8)
  buffer[0] = bytes[0]
  buffer[1] = bytes[1]
  buffer[2] = bytes[2]
  buffer[3] = bytes[3]
  buffer[4] = bytes[4]
  buffer[5] = bytes[5]
  buffer[6] = bytes[6]
  buffer[7] = bytes[7]
  return buffer
}

/** The first n of the few IDs as a Buffer in an ArrayBuffer of its own. */
function fewToBuffer(n) {
  const size = n * 8
  const buffer = isFast ? new FastBuffer(size) : Buffer.alloc(size)
  for (let i = 0; i < size; i++) buffer[i] = few[i]
  return buffer
}

/** The same as numbers. */
function fewToNumbers(n) {
  return fewNumbers.slice(0, n)
}

/**
 * The first n IDs of an array as texts, in the base of this code. Native code writes many into one text, and we cut it
 * up here: 20 ns for each ID, instead of 60 if native code makes an array of texts.
 */
function toTexts(ids, n, code) {
  const texts = new Array(n)
  base[0] = code
  for (let first = 0; first < n; first += SOME) {
    const end = Math.min(first + SOME, n)
    batch[0] = first
    batch[1] = end
    cut(spellSome(ids), batch[0], texts, first, end)
  }
  return texts
}

/**
 * Copies the pieces of a text, each followed by a space, into the array. `width`: the width of each, or 0 if they
 * differ.
 */
function cut(text, width, texts, first, end) {
  let from = 0
  for (let i = first; i < end; i++) {
    const to = width > 0 ? from + width : text.indexOf(' ', from)
    texts[i] = text.slice(from, to)
    from = to + 1
  }
}

/** Puts 8 bytes, big-endian, where `spell()` and `unpack()` read them. */
function fromBytes(from) {
  bytes[0] = from[0]
  bytes[1] = from[1]
  bytes[2] = from[2]
  bytes[3] = from[3]
  bytes[4] = from[4]
  bytes[5] = from[5]
  bytes[6] = from[6]
  bytes[7] = from[7]
}

const view = new DataView(memory)

/** The same for a bigint. */
function fromBigInt(value) {
  view.setBigUint64(0, value)
}

/**
 * Puts a time, Unix ms (finite) or Unix ns as a bigint, where native code reads it. Before 1970 both parts are
 * negative.
 */
function putTime(now) {
  const isMs = typeof now === 'number'
  time[0] = isMs ? Math.floor(now) : Number(now / 1_000_000n)
  time[1] = isMs ? nsOfMs(now) : Number(now % 1_000_000n)
}

module.exports = {
  STATUS,
  ...{ claim, claimText, fillBytes, fillNumbers, spell, unpack, pack, generators },
  ...{ id, index, base, refusal, parts, batch, few, some },
  ...{ toBuffer, fewToBuffer, fewToNumbers, toTexts, fromBytes, fromBigInt, putTime },
}
