// The ES twin of index.js.

import FlakeId from './index.js'

export const { LeasedFlakeId, fileStore, Layout, layouts } = FlakeId
export const { format, parse, toBigInt, toSigned, fromSigned, compare } = FlakeId
export { FlakeId, FlakeId as default }
