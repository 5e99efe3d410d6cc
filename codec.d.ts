// The types of `flakeforge/codec`. They are those of the main entry, where each is described: see types/.

/**
 * Layouts and IDs in all their forms, in plain JavaScript without dependencies: for browsers, workers and other places where
 * no addon can be. 8.3 kB, minified and compressed; a bundler leaves out what a page does not use.
 *
 * Everything works as in the main entry. Errors have the same codes and properties; bundles for browsers have shorter texts.
 * Where there is no `Buffer`, the 8 bytes of an ID are a `Uint8Array`, and `format()` takes at most 65 536 bytes.
 *
 * @example
 * import { format, layouts } from 'flakeforge/codec'
 * layouts.twitter.decode('1541815603606036480').date // 2022-06-28T16:07:40.105Z
 * format('1541815603606036480', 'base62')            // '1ptWyK4WgZU'
 *
 * @module
 */
export {
  Base,
  compare,
  FormatOptions,
  format,
  fromSigned,
  IdBytes,
  IdLike,
  parse,
  toBigInt,
  toSigned,
} from './types/ids.js'
export {
  CommonParts,
  CommonPartsToEncode,
  Decode,
  Layout,
  LayoutOptions,
  LayoutSettings,
  LayoutSpec,
  layouts,
  Parts,
  PartsToEncode,
} from './types/layout.js'
export { AnyLayout, LayoutName, NodeFields } from './types/node-fields.js'
