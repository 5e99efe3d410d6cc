// The JavaScript half of src/hot.rs: the scratch array that passes IDs between JavaScript and native code, and the raw
// functions. A call sets `index[0]` to the generator's index and calls `claim()`; the ID is then in `bytes` and `id`. IDs of
// a batch go into an array that is passed as an argument. For a few IDs that is `few`, because passing another array costs
// more than the IDs. `put…` functions write the input of a call; `…As…` functions read its result.
//
// `memory`, `few`, `some` and views of them stay internal: native code writes to them.

import type { Layout, LayoutOptions } from '../../src/native.d.ts'
import { newBytes } from '../base/objects.ts'
import { pause as sleep } from '../base/pause.ts'
import { ownOf } from '../base/values.ts'
import { type LayoutFacts, onceEach } from '../codec/facts.ts'
import native from './index.ts'
import type { RawFunctions } from './types.ts'
import { forAnyArray, type Wasm } from './wasm.ts'

/** Why the addon returned no ID; the same numbers as `Status` in src/hot.rs. */
export const STATUS = {
  OK: 0,
  OVERFLOW: 1,
  CLOCK_BACKWARDS: 2,
  TIME_RANGE: 3,
  NO_GENERATOR: 4,
  WINDOW_END: 6,
  FILE: 7,
  NOT_EXACT: 8,
  NO_LONGER_EXACT: 9,
}

/** Set only if the addon is WebAssembly. */
const { wasm } = native as { wasm?: Wasm }

/** Blocks this thread for this many ms. */
export const pause = wasm?.pause ?? sleep

/**
 * Bytes that are passed to the addon in a call. They have a separate ArrayBuffer, because V8 moves a small typed array until
 * its buffer is accessed; those of WebAssembly are a part of its memory.
 */
const room = (size: number) => wasm?.room(size) ?? new Uint8Array(new ArrayBuffer(size))

/**
 * Bytes that the addon writes to in every call. It takes only shared memory, which cannot be transferred, so it needs no
 * check that they are still there. Electron's windows have it without its name.
 */
function lastingRoom(size: number) {
  if (wasm !== undefined) return wasm.room(size)
  const { SharedArrayBuffer: named, WebAssembly } = globalThis as any
  const Shared = named ?? new WebAssembly.Memory({ initial: 0, maximum: 0, shared: true }).buffer.constructor
  return new Uint8Array(new Shared(size))
}

// The same list as `Scratch` in src/hot.rs.
const scratch = lastingRoom(64 + 24)
const { buffer: memory, byteOffset: at } = scratch
const bytes = new Uint8Array(memory, at, 8) // the ID, big-endian
export const id = new BigUint64Array(memory, at + 8, 1) // the ID as a number; in and out, for a seal
export const index = new Uint32Array(memory, at + 16, 1) // in: which generator or seal
export const base = new Uint32Array(memory, at + 20, 1) // in: which base, as an index into native.bases()
const time = new Float64Array(memory, at + 24, 2) // in, with a user's clock: Unix ms, and nanoseconds beyond them
export const refusal = new Float64Array(memory, at + 40, 3) // out, when refused: retryAfterMs, behindMs, timestamp
// In: how many IDs of a batch are generated or written as text so far, and how many are wanted. Out: how many are generated; from
// `spellSome()`, the width of each text, or 0 if they differ.
export const batch = new Float64Array(memory, at + 64, 2)
export const float = new Float64Array(memory, at + 80, 1) // out of `claimFloat()`: the ID

const FEW = 64 // passing an array for more of them costs less than copying them
export const few = room(FEW * 8)
const fewNumbers = new BigUint64Array(few.buffer, few.byteOffset, FEW)
const fewFloats = new Float64Array(few.buffer, few.byteOffset, FEW)

export const some = room(32 * 8) // IDs that are generated only to become text: as many as one call writes, SOME in src/hot.rs

export const generators = new native.Generators(scratch)
const bare = generators.functions() as RawFunctions
const functions = wasm === undefined ? bare : forAnyArray(bare, batch, wasm)
const { claim, claimFloat, claimText, fillBytes, fillFloats, fillNumbers } = functions
const { open, seal, spell, spellSome } = functions

/**
 * The ID that was just claimed, as a Buffer with a separate ArrayBuffer. It copies byte by byte, because `set` costs 20 ns
 * more.
 */
export function idAsBuffer() {
  const buffer = newBytes(8)
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

const SHORT = 8 // V8 keeps arrays of 64 bytes on its heap, and a loop copies them faster than `set`

/** The first n of the few IDs as a Buffer with a separate ArrayBuffer. */
export function fewAsBuffer(n: number) {
  const size = n * 8
  const buffer = newBytes(size)
  if (n > SHORT) buffer.set(few.subarray(0, size))
  else for (let i = 0; i < size; i++) buffer[i] = few[i]
  return buffer
}

/** The same as numbers. */
export function fewAsNumbers(n: number) {
  return fewNumbers.slice(0, n)
}

/** The same as floats. */
export function fewAsFloats(n: number) {
  return fewFloats.slice(0, n)
}

/** Writes an ID, 8 bytes, big-endian, where `spell()` reads it. */
export function putBytes(from: Uint8Array) {
  bytes[0] = from[0]
  bytes[1] = from[1]
  bytes[2] = from[2]
  bytes[3] = from[3]
  bytes[4] = from[4]
  bytes[5] = from[5]
  bytes[6] = from[6]
  bytes[7] = from[7]
}

const view = new DataView(memory, at)

/** Writes an ID, 8 bytes, big-endian, where a claim would have put it. */
export function putId(from: Uint8Array) {
  putBytes(from)
  id[0] = view.getBigUint64(0)
}

/** Writes an ID where `spell()` and `unpack()` read it. */
export function putBigInt(value: bigint) {
  view.setBigUint64(0, value)
}

/**
 * Writes a time, Unix ms (finite) or Unix ns as a bigint, where native code reads it. ns before 1970 are two negative parts;
 * ms have no second part, because only the layout defines which instant a fraction represents.
 */
export function putTime(now: number | bigint) {
  const isMs = typeof now === 'number'
  time[0] = isMs ? now : Number(now / 1_000_000n)
  time[1] = isMs ? Number.NaN : Number(now % 1_000_000n)
}

/** The addon's layout, made when a generator first needs it. */
export const nativeLayout: (facts: LayoutFacts) => Layout = onceEach((facts) => new native.Layout(requestOf(facts)))

/** The layout of `new FlakeId()`. */
export const usualLayout = () => new native.Layout(ownOf({ name: 'flake' }) as unknown as LayoutOptions)

/** A layout in the form that the addon takes; it reads inherited properties too. */
function requestOf({ spec: { name, fields }, tickNs, choices }: LayoutFacts): LayoutOptions {
  if (fields === undefined) return ownOf({ name, ...choices }) as unknown as LayoutOptions
  const spec = { tickNs, names: fields.map((field) => field[0]), widths: fields.map((field) => field[1]) }
  return ownOf({ name, spec, ...choices }) as unknown as LayoutOptions
}

export { claim, claimFloat, claimText, fillBytes, fillFloats, fillNumbers, open, seal, spell, spellSome }
