// The types of browser.js, as those of index.js: the class, merged with a namespace. browser.d.mts is its ES twin.

import * as codec from './codec.js'
import * as remote from './remote.js'
import * as json from './types/json.js'

/**
 * IDs are not made here: everything of this class is an error.
 * @deprecated use `RemoteFlakeId`, or the package flakeforge-wasm32-wasi
 */
declare class FlakeId {
  /** @throws {Error} `ERR_FLAKE_LOAD`: there is no addon here. The message says what to use instead. */
  constructor(options?: unknown)
  /** @throws {Error} `ERR_FLAKE_LOAD` */
  static join(store?: unknown, options?: unknown): Promise<never>
}

declare namespace FlakeId {
  export import Layout = codec.Layout
  export import layouts = codec.layouts
  export import format = codec.format
  export import parse = codec.parse
  export import toBigInt = codec.toBigInt
  export import toSigned = codec.toSigned
  export import fromSigned = codec.fromSigned
  export import compare = codec.compare
  export import jsonReplacer = json.jsonReplacer
  export import jsonReviver = json.jsonReviver
  export import RemoteFlakeId = remote.RemoteFlakeId
  export { FlakeId, FlakeId as default }
}

export = FlakeId
