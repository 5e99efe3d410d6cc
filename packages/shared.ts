// What the packages share with the library itself and with its command: how a program tells users of their mistakes, what of a
// text may be printed, and the table of errors. It is compiled into them, and is their only way past the entries of `flakeforge`:
// whatever else they need, a user needs too.

export { CODES } from '../lib/base/errors/codes.ts'
export { hasSecret } from '../lib/base/errors/foreign.ts'
export { show } from '../lib/base/errors/make.ts'
export { nearest } from '../lib/base/nearest.ts'
export { printable, withoutSecretsIn } from '../lib/base/printable.ts'
export { signOfContainer } from '../lib/stores/container.ts'
