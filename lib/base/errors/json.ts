// The error about an ID in JSON. Uses no module of Node: the main entry of browsers has it too.

import { flakeError, show } from './make.ts'

/**
 * `ERR_FLAKE_ID`: a value in JSON is not an ID. `key` is its key.
 * @param hint a sentence about this value, with a space before it
 */
export function jsonIdError(key: string, value: unknown, wanted: string, hint: string = '') {
  const message = `The value of key ${show(key)} must be ${wanted}, but is ${show(value)}.${hint}`
  return flakeError('ERR_FLAKE_ID', message, { key, value })
}
