// `flakeforge` where there can be no addon: browsers, workers and functions at the edge (see "exports" in package.json). It has
// all of `flakeforge/codec` and `flakeforge/remote`. What makes IDs in the process is an error that says what to use instead.

import { noAddon } from '../base/errors/no-addon.ts'

export { jsonReplacer, jsonReviver } from '../codec/json.ts'
export * from './codec.ts'
export * from './remote.ts'

/**
 * IDs are not made here: everything of this class is an error.
 * @deprecated use `RemoteFlakeId`, or the package @flakeforge/binding-wasm32-wasi
 */
export class FlakeId {
  /** @throws {Error} `ERR_FLAKE_LOAD`: there is no addon here. The message says what to use instead. */
  constructor(_options?: unknown) {
    throw noAddon('new FlakeId()')
  }

  /** @throws {Error} `ERR_FLAKE_LOAD` */
  static async join(_store?: unknown, _options?: unknown): Promise<never> {
    throw noAddon('FlakeId.join()')
  }
}

/**
 * IDs are not sealed here.
 * @deprecated use it on a server
 */
export class Seal<const _P extends string = ''> {
  /** @throws {Error} `ERR_FLAKE_LOAD` */
  constructor(_key?: unknown, _options?: unknown) {
    throw noAddon('new Seal()')
  }
}

/**
 * Groups are not created here.
 * @deprecated use it on a server
 * @throws {Error} `ERR_FLAKE_LOAD`
 */
export async function createGroup(_store?: unknown, _options?: unknown): Promise<never> {
  throw noAddon('createGroup()')
}

export default FlakeId
