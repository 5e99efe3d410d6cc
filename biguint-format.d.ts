// Written by `npm run dist` from lib/entries/biguint-format.ts.

/// <reference types="node" />
type Base = 'dec' | 'hex' | 'bin' | 'oct';
interface Options {
  /** the text before the digits; decimal text never has it */
  prefix?: string | undefined;
  /** digits in a group, counted from the end */
  groupsize?: number | string | undefined;
  /** the text between groups; default a space */
  delimiter?: string | undefined;
  /** pads the text at its front to `size` */
  padstr?: string | undefined;
  /** the length to pad to, prefix included */
  size?: number | undefined;
  /** binary only: leave out leading zeros */
  trim?: boolean | undefined;
  /** byte order of the input; default `'BE'` */
  format?: 'BE' | 'LE' | undefined;
}
interface Format {
  /**
   * Behaves exactly like the package biguint-format: it writes bytes of any length as text. Text input is always read as hex,
   * with or without `0x`. flakeforge's own `format` is stricter, and reads text as an ID.
   *
   * @param number bytes, an array of bytes, or hex text
   * @param base default `'dec'`. For an unknown base the result is undefined.
   * @example
   * const format = require('flakeforge/biguint-format')
   * format('50dd', 'hex', { prefix: '0x' }) // '0x50dd'
   */
  (number: Buffer | readonly number[] | string, base?: Base | '' | null, options?: Readonly<Options> | null): string;
  (number: Buffer | readonly number[] | string, base: string, options?: Readonly<Options> | null): string | undefined;
}
declare const format: Format;
declare namespace format {
  export {
    Base,
    Format,
    Options,
  }
}
export = format;
