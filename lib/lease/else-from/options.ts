// The option `elseFrom` of join(), checked. It must never be loaded unless the option is given.

import { type Options, ownOf, refuseUnknown } from '../../base/check.ts'
import type { RemoteOptions } from '../../remote/options.ts'
import { KEYS, type RemoteSettings, readRemote } from '../../remote/options.ts'

/**
 * Where IDs come from while no slot gives any, with options of `RemoteFlakeId.connect()`. `name` is that of the group on the
 * servers; default: the group's own.
 *
 * What is compared: each answer's layout, always; and once for each server, whether one of its slots is in the store under
 * the same owner. That is done when `join` has a result, and before IDs of a server are used. While the server or the store
 * does not answer, nothing can be said, and the layout alone decides. A server of another store is a warning at the start
 * (`FLAKEFORGE_ELSE_FROM`), and an error when its IDs are needed.
 */
export interface ElseFrom extends Omit<RemoteOptions, 'name' | 'signal'> {
  urls: string | URL | ReadonlyArray<string | URL>
  name?: string | null | undefined
}

/**
 * Where IDs come from while no slot gives any. Usually they have the group's name there.
 * @param given URLs, or an object with them and with options of RemoteFlakeId.connect()
 */
export function readElseFrom(given: unknown, group: string): RemoteSettings {
  const isPlain = typeof given === 'object' && !Array.isArray(given) && !(given instanceof URL)
  const options = isPlain ? refuseUnknown(given as Options, ['urls', ...KEYS]) : ownOf({ urls: given })
  try {
    return readRemote(options.urls, ownOf({ ...options, name: options.name ?? group }))
  } catch (error) {
    throw inElseFrom(error as Error & { option?: string })
  }
}

/** The same error under the name that the option has here. */
function inElseFrom(error: Error & { option?: string }) {
  if (error.option === undefined) return error
  const option = error.option === 'urls' ? 'elseFrom' : `elseFrom.${error.option}`
  error.message = error.message.replace(error.option, option)
  return Object.assign(error, { option })
}
