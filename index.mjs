// The ES twin of index.js.

import FlakeId from './index.js'

export const { Layout, layouts, format, parse, toBigInt, toSigned, fromSigned, compare } = FlakeId
export { FlakeId, FlakeId as default }
