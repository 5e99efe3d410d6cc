// The types of the main entry where there can be no addon: browsers, workers, the edge. See browser.js.

export * from './codec.js'
export * from './remote.js'
export { jsonReplacer, jsonReviver } from './types/json.js'

/**
 * IDs are not made here: everything of this class is an error.
 * @deprecated use `RemoteFlakeId`, or the package flakeforge-wasm32-wasi
 */
export declare class FlakeId {
  /** @throws {Error} `ERR_FLAKE_LOAD`: there is no addon here. The message says what to use instead. */
  constructor(options?: unknown)
  /** @throws {Error} `ERR_FLAKE_LOAD` */
  static join(store?: unknown, options?: unknown): Promise<never>
}
export default FlakeId
