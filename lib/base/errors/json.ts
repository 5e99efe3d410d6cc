// The error about an ID in JSON. It must never use a module of Node: the main entry of browsers has it too.

import { flakeError, show } from './make.ts'

/**
 * `ERR_FLAKE_ID`: a value in JSON that is not an ID, and the key that it stands under.
 * @param hint a sentence about this value, with a space before it
 */
export function jsonIdError(key: string, value: unknown, wanted: string, hint: string = '') {
  const message = `The value of key ${show(key)} must be ${wanted}, but is ${show(value)}.${hint}`
  return flakeError(TypeError, 'ERR_FLAKE_ID', message, { key, value })
}
