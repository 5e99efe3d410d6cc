// FlakeId with join() and createGroup(). The code for leases is in a separate file, which the first call loads; generators do
// not depend on it.

import type { AnyLayout } from '../codec/node-fields.ts'
import { FlakeId } from '../generator/flake-id.ts'
import type { JoinOptions } from '../lease/join-options.ts'
import type { LeasedFlakeId } from '../lease/leased-flake-id.ts'
import type { Store } from '../stores/store.ts'

const lease = () => import('../lease/join.ts')

// Leases are above generators, so the class learns of its join() here.
declare module '../generator/flake-id.ts' {
  namespace FlakeId {
    /**
     * Creates a generator that obtains its node number on its own. The generator holds a *slot* of its group, and no two
     * generators of a group hold the same slot at the same time. The promise resolves once IDs can be generated.
     *
     * @param store the store of the slots. For many machines: `'redis://…'`, `'valkey://…'`, `'postgres://…'`, `'mysql://…'`
     * (also for MariaDB) or `'etcd://…'`, whose client package you have installed (etcd needs none); or your own client in
     * `redisStore`, `postgresStore`, `mysqlStore` or `etcdStore`; or your own database in `recordStore`. For the processes of
     * one machine: `'file:DIR'`, with an absolute path. Default: the store in the environment variable `FLAKEFORGE_STORE`, or
     * else the folder `flakeforge` in `$XDG_STATE_HOME` or in `~/.local/state`.
     * @param options the group and its lease, the layout, and node fields that stay fixed
     * @throws {RangeError | TypeError} `ERR_FLAKE_OPTION`: an option is out of bounds or not allowed here (`id`, `shared`,
     * `clock`). Or no store is given and there is no default, because this is a container or there is no home folder. Or
     * `durable` is set, but the server's settings allow it to lose acknowledged writes.
     * @throws {Error} `ERR_FLAKE_CONFIG_MISMATCH`: the group was created with different options, on which its members must
     * agree (`theirs`, `ours`).
     * @throws {Error} `ERR_FLAKE_EXHAUSTED`: no slot becomes free within `waitMs` (`retryAt`). `join` skips a slot whose node
     * number another generator of this process uses; if no other slot is free, the `cause` says so.
     * @throws {Error} `ERR_FLAKE_QUIET`: the store is new, or may have lost grants, and `waitMs` ends before it is safe to
     * generate IDs (`retryAt`). See `createGroup`.
     * @throws {Error} `ERR_FLAKE_CLOCK_SKEW`: the clocks of this machine and of the store differ by more than `skewMs`, or the
     * window begins after the end of `waitMs` by this machine's clock.
     * @throws {Error} `ERR_FLAKE_STORE`: the store is unreachable, failed (`cause`), is unsuitable (a replica, for example), or
     * did not answer within a second after `waitMs`.
     * @throws {Error} `ERR_FLAKE_RECORD`: a record of the group cannot be read, or was written by a newer version of flakeforge
     * (`group`, `record`). Nothing was written over it.
     * @throws {Error} `ERR_FLAKE_FILE`: a file or the folder cannot be used (`path`).
     * @throws the signal's `reason`, if `signal` aborts first
     * @example
     * const flake = await FlakeId.join()
     * flake.next()
     * await flake.close() // at the end: releases the slot at once
     */
    function join<const L extends AnyLayout = 'flake'>(
      store?: Store | string | readonly string[] | null,
      options?: JoinOptions<L> | null,
      ...more: never[]
    ): Promise<LeasedFlakeId<L>>
  }
}

/**
 * Creates a group that you know to be new, so that its members need not wait for a quiet period of 60 s + `skewMs`. `npx
 * flakeforge create` does the same. On a server, the call waits 1 s + `skewMs`, the quiet period of a group created this way,
 * so that no member has to. If a group of this name has just been destroyed, or the server was restarted meanwhile, the call
 * waits up to 60 s + `skewMs` and warns (`FLAKEFORGE_QUIET`).
 *
 * Creating a group is safe only if no process used it in the last minute. Never do so if the store may have lost the group:
 * its members may still be generating IDs.
 * @param options the options of `join`. Only `signal`, which ends the wait, and the options that all members must agree on
 * have an effect
 * @returns true if it created the group; false if the group already existed: then nothing was changed
 * @throws as `FlakeId.join`, except for errors about slots and waiting
 */
export async function createGroup<const L extends AnyLayout = 'flake'>(
  store: Store | string | readonly string[] | null | undefined,
  options?: JoinOptions<L> | null,
  ...more: never[]
): Promise<boolean> {
  return (await lease()).createGroup(store, options, ...more)
}

const { join } = {
  async join(store?: Store, options?: object, ...more: never[]) {
    return (await lease()).join(store, options, ...more)
  },
}
Object.defineProperty(FlakeId, 'join', { value: join, configurable: true, writable: true })

export { FlakeId }
