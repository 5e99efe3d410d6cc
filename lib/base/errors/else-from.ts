// Errors about servers that make IDs for a leased generator while no slot gives any (`elseFrom`).

import type { FlakeError } from './flake-error.ts'
import { flakeError } from './make.ts'

/**
 * Neither a slot nor a server gives IDs. It has the code and the fields of what went wrong with the servers, and why there
 * is no slot as its `cause`.
 * @param slot why no slot gives IDs
 * @param servers why no server does
 */
export function noSourceError(group: string, slot: Error, servers: Error) {
  const { code = 'ERR_FLAKE_REMOTE', ...fields } = servers as FlakeError<'ERR_FLAKE_REMOTE'>
  const message =
    `Nobody gives IDs to this generator of group '${group}'. The store: ${slot.message} The servers of elseFrom: ` +
    servers.message
  return flakeError(Error, code, message, { ...fields, group, cause: slot })
}
