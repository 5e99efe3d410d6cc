// The hidden property that marks an error as ours. Every copy of flakeforge recognises it, whatever its version, in
// any context of the process. Browsers load this file with their first function, so it stays short.

const BRAND = Symbol.for('ERR_FLAKE')

export const branded = <E extends Error>(error: E): E => Object.defineProperty(error, BRAND, {})

/**
 * The error with the value that it is about. Objects may contain a password, so they are behind a getter, which neither logs
 * nor `inspect()` call, hidden properties included; bigints are left out of logs, because an error with one could not be
 * written as JSON.
 */
export const withValue = <E extends Error>(error: E, value: unknown): E =>
  Object.defineProperty(error, 'value', {
    ...(Object(value) === value
      ? { get: () => value }
      : { value, writable: true, enumerable: typeof value !== 'bigint' }),
    configurable: true,
  })

export const isBranded = (value: unknown) => BRAND in Object(value)
