// The hidden property that marks an error as ours. Every copy of flakeforge recognises it, whatever its version, in
// any context of the process. Browsers load this file with their first function, so it stays short.

const BRAND = Symbol.for('ERR_FLAKE')

export const branded = <E extends Error>(error: E): E => Object.defineProperty(error, BRAND, {})

export const isBranded = (value: unknown) => BRAND in Object(value)
