// Errors that pages have with the same text as Node.js. Uses no module of Node.

import { flakeError, show } from './make.ts'

/**
 * `ERR_FLAKE_ID`: a value in JSON is not an ID. `key` is its key.
 * @param hint a sentence about this value, with a space before it
 */
export function jsonIdError(key: string, value: unknown, wanted: string, hint: string = '') {
  const message = `The value of key ${show(key)} must be ${wanted}, but is ${show(value)}.${hint}`
  return flakeError('ERR_FLAKE_ID', message, { key, value })
}

/** `ERR_FLAKE_LOAD`: there is no addon on this runtime. */
export function noAddon(call: string) {
  const message =
    `${call} needs the native addon of flakeforge, and there is none in browsers, in workers that are not Node's, and at the ` +
    "edge. RemoteFlakeId of 'flakeforge/remote' takes IDs from a flakeforge-server; in a page, the package " +
    '@flakeforge/binding-wasm32-wasi can generate them.'
  return flakeError('ERR_FLAKE_LOAD', message, {})
}
