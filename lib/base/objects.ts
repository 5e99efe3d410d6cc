// Recognises Dates and byte arrays of any realm, whatever they claim to be, and makes new bytes. Uses no module of Node:
// browsers load this file too.

/** Throws unless its object is a Date. */
const { getTime } = Date.prototype

export function isDate(value: unknown): value is Date {
  if (typeof value !== 'object') return false // a throw takes 5 µs
  try {
    getTime.call(value)
    return true
  } catch {
    return false
  }
}

/** A Temporal.Instant or Temporal.ZonedDateTime, of the runtime or of a polyfill. */
export type TemporalInstant = { readonly epochNanoseconds: bigint }

const TEMPORAL = ['Temporal.Instant', 'Temporal.ZonedDateTime']

export function isInstant(value: unknown): value is TemporalInstant {
  if (typeof value !== 'object' || value === null) return false
  const { [Symbol.toStringTag]: tag, epochNanoseconds } = value as { [name: PropertyKey]: unknown }
  return TEMPORAL.includes(tag as string) && typeof epochNanoseconds === 'bigint'
}

/** The name of a typed array's class, as Node's own isUint8Array reads it; undefined for anything else. */
const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as () => unknown

export const isUint8Array = (value: unknown): value is Uint8Array => tagOf.call(value) === 'Uint8Array'

export const isBigUint64Array = (value: unknown): value is BigUint64Array => tagOf.call(value) === 'BigUint64Array'

export const isBigInt64Array = (value: unknown): value is BigInt64Array => tagOf.call(value) === 'BigInt64Array'

/** Node's Buffer, if there is one. A bundler that sees the bare name would add its own Buffer. */
const { Buffer: NodeBuffer } = globalThis as { Buffer?: typeof Buffer }

// The class behind Buffer makes 8 bytes with their own memory in 25 ns; Buffer.alloc(8) takes 31 and gives the same. Runtimes
// without such a class use Buffer.alloc.
const { [Symbol.species]: FastBuffer } = (NodeBuffer ?? {}) as {
  [Symbol.species]?: new (size: number) => Buffer
}
const isFast =
  typeof FastBuffer === 'function' &&
  FastBuffer !== (NodeBuffer as unknown) &&
  FastBuffer.prototype instanceof Uint8Array &&
  NodeBuffer?.isBuffer(new FastBuffer(8))

/** Zeroed bytes in a separate ArrayBuffer: a Buffer where there is such a class, else a Uint8Array. */
export function newBytes(size: number) {
  if (isFast) return new FastBuffer(size)
  return NodeBuffer?.alloc(size) ?? (new Uint8Array(size) as Buffer)
}
