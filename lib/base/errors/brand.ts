// What all errors of flakeforge have, and no others: a property that every copy of it knows, of any version and in any context
// of the process. It cannot be seen. Browsers load it with their first function, so it stays short.

const BRAND = Symbol.for('ERR_FLAKE')

export const branded = <E extends Error>(error: E): E => Object.defineProperty(error, BRAND, {})

export const isBranded = (value: unknown) => BRAND in Object(value)
