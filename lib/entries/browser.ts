// `flakeforge` on runtimes without an addon: browsers, workers and functions at the edge (see "exports" in package.json). It
// has all of `flakeforge/codec` and `flakeforge/remote`. Exports that would generate IDs in the process throw an error that
// names the alternative.

import { noAddon } from '../base/errors/portable.ts'

export { jsonReplacer, jsonReviver } from '../codec/json.ts'
export * from './codec.ts'
export * from './remote.ts'

/**
 * This runtime generates no IDs: every method of this class throws.
 * @deprecated use `RemoteFlakeId`, or the package @flakeforge/binding-wasm32-wasi
 */
export class FlakeId {
  /** @throws {Error} `ERR_FLAKE_LOAD`: there is no addon on this runtime. The message names the alternative. */
  constructor(_options?: unknown) {
    throw noAddon('new FlakeId()')
  }

  /** @throws {Error} `ERR_FLAKE_LOAD` */
  static async join(_store?: unknown, _options?: unknown): Promise<never> {
    throw noAddon('FlakeId.join()')
  }
}

/**
 * This runtime seals no IDs.
 * @deprecated use it on a server
 */
export class Seal<const _P extends string = ''> {
  /** @throws {Error} `ERR_FLAKE_LOAD` */
  constructor(_key?: unknown, _options?: unknown) {
    throw noAddon('new Seal()')
  }
}

/**
 * This runtime creates no groups.
 * @deprecated use it on a server
 * @throws {Error} `ERR_FLAKE_LOAD`
 */
export async function createGroup(_store?: unknown, _options?: unknown): Promise<never> {
  throw noAddon('createGroup()')
}

export default FlakeId
