// Errors about the servers of `elseFrom`, which make IDs for a leased generator while it has no slot.

import { withoutEnd } from '../printable.ts'
import type { FlakeError } from './flake-error.ts'
import { flakeError } from './make.ts'

/**
 * Neither a slot nor a server supplies IDs. The error has the code and fields of the servers' failure; its `cause` is why
 * there is no slot.
 * @param slot why no slot supplies IDs
 * @param servers why no server does
 */
export function noSourceError(group: string, slot: Error, servers: Error) {
  const { code = 'ERR_FLAKE_REMOTE', ...fields } = servers as FlakeError<'ERR_FLAKE_REMOTE'>
  const message =
    `This generator of group '${group}' has no source of IDs. The store: ${withoutEnd(slot.message)}. The servers of elseFrom: ` +
    servers.message
  return flakeError(Error, code, message, { ...fields, group, cause: slot })
}
