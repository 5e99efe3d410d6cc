// The types of what the addon exports.

/** Its exports. Every build writes these types. */
export type Addon = typeof import('../../src/native.d.ts')

/** The result of `generators.functions()`. A status is a number of STATUS; undefined is OK. */
export interface RawFunctions {
  /** takes one ID */
  claim: () => number | undefined
  /** takes one ID and returns it as text; or returns a status */
  claimText: () => string | number
  /** takes the IDs of a batch */
  fillBytes: (ids: Uint8Array) => number | undefined
  /** the same, in the byte order of this machine */
  fillNumbers: (ids: Uint8Array) => number | undefined
  /** takes one ID, if it is exact as a float */
  claimFloat: () => number | undefined
  /** takes the IDs of a batch, as floats in the same order */
  fillFloats: (ids: Uint8Array) => number | undefined
  /** the ID as text */
  spell: () => string
  /** IDs of a batch as one text, a space after each */
  spellSome: (ids: Uint8Array) => string
  /** seals one ID: `id[0]`, with the seal of the index in `index[0]` */
  seal: () => void
  /** opens it */
  open: () => void
}
