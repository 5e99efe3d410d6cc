// Adapts the raw functions to WebAssembly, which sees only its own memory: hot.ts shares arrays in that memory, and any other
// array is filled, read or changed through a piece of it. emnapi would copy a JavaScript array that is passed directly, and
// the result of a function that writes would be lost.

import type { RawFunctions } from './types.ts'

/**
 * The WebAssembly's exports besides the addon: `room` returns bytes that both sides see. The module's clocks are in ms: one
 * is Unix time, the other is never set.
 */
export type Wasm = {
  room: (size: number) => Uint8Array
  unixNow: () => number
  monotonicNow: () => number
  /** only in browsers, where a thread cannot sleep: spins for this many ms */
  pause?: (ms: number) => void
}

/** How many IDs are passed at once. */
const AT_ONCE = 1024

/** A function that fills an array, through one in the module's memory. `batch` is that of hot.ts. */
function filling(fill: (ids: Uint8Array) => number | undefined, batch: Float64Array, between: Uint8Array) {
  return (ids: Uint8Array) => {
    if (ids.buffer === between.buffer) return fill(ids)
    const wanted = batch[1]
    let made = batch[0]
    let status
    while (made < wanted && status === undefined) {
      batch[0] = 0
      batch[1] = Math.min(wanted - made, AT_ONCE)
      status = fill(between)
      ids.set(between.subarray(0, batch[0] * 8), made * 8)
      made += batch[0]
    }
    batch[0] = made
    batch[1] = wanted
    return status
  }
}

/** A function that reads an array, through one in the module's memory. */
function reading(read: (ids: Uint8Array) => string, batch: Float64Array, between: Uint8Array) {
  return (ids: Uint8Array) => {
    if (ids.buffer === between.buffer) return read(ids)
    const piece = ids.subarray(batch[0] * 8, batch[1] * 8)
    between.set(piece)
    batch[0] = 0
    batch[1] = piece.length / 8
    return read(between)
  }
}

/** The raw functions, for users' arrays too. */
export function forAnyArray(functions: RawFunctions, batch: Float64Array, { room }: Wasm): RawFunctions {
  const between = room(AT_ONCE * 8)
  return {
    ...functions,
    fillBytes: filling(functions.fillBytes, batch, between),
    fillNumbers: filling(functions.fillNumbers, batch, between),
    fillFloats: filling(functions.fillFloats, batch, between),
    spellSome: reading(functions.spellSome, batch, between),
  }
}

/** Calls functions that change IDs in place, with JavaScript arrays too. */
export function inPlace({ room }: Wasm) {
  const between = room(AT_ONCE * 8)
  /** @param ids 8 bytes each */
  return (ids: Uint8Array, change: (ids: Uint8Array) => void) => {
    for (let at = 0; at < ids.length; at += between.length) {
      const piece = ids.subarray(at, at + between.length)
      const there = between.subarray(0, piece.length)
      there.set(piece)
      change(there)
      piece.set(there)
    }
  }
}
