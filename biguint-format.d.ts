// The types of flakeforge/biguint-format.
/// <reference types="node" />

/**
 * Does exactly what the package biguint-format does: writes bytes of any length as text. Text as input is always hex, with
 * or without `0x`. The `format` of flakeforge itself is stricter, and reads text as an ID.
 *
 * @param number bytes, an array of bytes, or hex text
 * @param base default `'dec'`. For a base that it does not know, the result is undefined.
 * @example
 * const format = require('flakeforge/biguint-format')
 * format('50dd', 'hex', { prefix: '0x' }) // '0x50dd'
 */
declare function format(
  number: Buffer | readonly number[] | string,
  base?: format.Base | '' | null,
  options?: Readonly<format.Options> | null,
): string
declare function format(
  number: Buffer | readonly number[] | string,
  base: string,
  options?: Readonly<format.Options> | null,
): string | undefined

declare namespace format {
  export type Base = 'dec' | 'hex' | 'bin' | 'oct'

  export interface Options {
    /** stands before the digits; decimal text never has one */
    prefix?: string | undefined
    /** digits in a group, counted from the end */
    groupsize?: number | string | undefined
    /** stands between groups; default a space */
    delimiter?: string | undefined
    /** fills the text at its front up to `size` */
    padstr?: string | undefined
    /** the length to fill up to, prefix included */
    size?: number | undefined
    /** binary only: leave out leading zeros */
    trim?: boolean | undefined
    /** byte order of the input; default `'BE'` */
    format?: 'BE' | 'LE' | undefined
  }
}

export = format
