// `flakeforge/codec`: layouts and IDs in all their forms, in plain JavaScript, for Node, browsers and workers. In Node they
// are the same functions as those of the main entry, except format(), which the addon makes faster there.

/**
 * Layouts and IDs in all their forms, in plain JavaScript without dependencies: for browsers, workers and other runtimes
 * without an addon. 12 kB, minified and compressed; a bundler leaves out unused parts.
 *
 * Everything works as in the main entry. Errors have the same codes and properties; bundles for browsers have shorter
 * messages. Without `Buffer`, the 8 bytes of an ID are a `Uint8Array`, and `format()` takes at most 65,536 bytes.
 *
 * @example
 * import { format, layouts } from 'flakeforge/codec'
 * layouts.twitter.decode('1541815603606036480').date // 2022-06-28T16:07:40.105Z
 * format('1541815603606036480', 'base62')            // '1ptWyK4WgZU'
 *
 * @module
 */
export type { RemoteFailure } from '../base/errors/codes.ts'
export type { FlakeErrorClass, FlakeErrorCode } from '../base/errors/flake-error.ts'
export { FlakeError } from '../base/errors/flake-error.ts'
export type { Base } from '../codec/bases.ts'
export type { Id, IdSource, IdType, IdTypeOptions, StandardProps, TextSchema, TextSeal } from '../codec/id-type.ts'
export { idType } from '../codec/id-type.ts'
export type { IdBytes, IdLike } from '../codec/ids.ts'
export { compare, fromSigned, toBigInt, toSigned } from '../codec/ids.ts'
export type { Decode } from '../codec/layout.ts'
export { Layout, layouts } from '../codec/layout.ts'
export type { AnyLayout, LayoutName, LayoutOptions, NodeFields } from '../codec/node-fields.ts'
export type { CommonParts, CommonPartsToEncode, Parts, PartsToEncode } from '../codec/parts.ts'
export type { PrefixOptions } from '../codec/prefix.ts'
export type { LayoutSettings, LayoutSpec } from '../codec/spec.ts'
export type { Format, FormatOptions } from '../codec/text.ts'
export { format, isId, parse } from '../codec/text.ts'
