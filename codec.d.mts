// The ES twin of codec.d.ts, for codec.mjs.

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
