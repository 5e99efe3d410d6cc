// FlakeId with join() and createGroup(). The code for leases is in a separate file, which the first call loads; generators do
// not depend on it.

import type { AnyLayout } from '../codec/node-fields.ts'
import { FlakeId } from '../generator/flake-id.ts'
import type { JoinOptions } from '../lease/join-options.ts'
import type { Store } from '../stores/store.ts'

const lease = () => import('../lease/join.ts')

/**
 * Creates a group that you know to be new, so that its members need not wait for a quiet period of 60 s + `skewMs`.
 * `npx flakeforge create` does the same. On a server it waits 1 s + `skewMs`, the quiet period of a group created this way,
 * so that no member has to. If a group of this name was destroyed a moment ago, or the server was restarted meanwhile, it
 * waits up to 60 s + `skewMs` and warns (`FLAKEFORGE_QUIET`).
 *
 * This is safe only if no process used the group in the last minute. Never do it if the store may have lost the group: its
 * members may still be generating IDs.
 * @param options as for `join`. Only the options that all members must agree on matter, and `signal`, which ends the wait
 * @returns true if it created the group; false if the group already existed: then nothing was changed
 * @throws as `FlakeId.join`, except for errors about slots and waiting
 */
export async function createGroup<const L extends AnyLayout = 'flake'>(
  store: Store | string | null | undefined,
  options?: JoinOptions<L> | null,
): Promise<boolean> {
  return (await lease()).createGroup(store, options)
}

const { join } = {
  async join(store?: Store, options?: object) {
    return (await lease()).join(store, options)
  },
}
Object.defineProperty(FlakeId, 'join', { value: join, configurable: true, writable: true })

export { FlakeId }
