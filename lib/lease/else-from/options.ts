// The option `elseFrom` of join(), checked. Loaded only when the option is set.

import { type Options, ownOf, refuseUnknown } from '../../base/check.ts'
import type { RemoteOptions } from '../../remote/options.ts'
import { KEYS, type RemoteSettings, readRemote } from '../../remote/options.ts'

/**
 * The source of IDs while there is no slot, with options of `RemoteFlakeId.connect()`. `name` is the group's name on the
 * servers; default: its own.
 *
 * Each response carries the layout of its IDs, and the random digits by which the store identifies their group. The generator
 * compares both with its own, or only the layout before the store has answered. A server of another group causes a warning at
 * the start (`FLAKEFORGE_ELSE_FROM`), and an error when its IDs are needed.
 */
export interface ElseFrom extends Omit<RemoteOptions, 'name' | 'signal'> {
  urls: string | URL | ReadonlyArray<string | URL>
  name?: string | null | undefined
}

/**
 * The source of IDs while there is no slot. By default its name is the group's.
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

/** The same error under this option's name. */
function inElseFrom(error: Error & { option?: string }) {
  if (error.option === undefined) return error
  const option = error.option === 'urls' ? 'elseFrom' : `elseFrom.${error.option}`
  error.message = error.message.replace(error.option, option)
  return Object.assign(error, { option })
}
