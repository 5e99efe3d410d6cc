// The ES twin of index.js.

import FlakeId from './index.js'

export const { LeasedFlakeId, SegmentId, Layout, layouts } = FlakeId
export const { createGroup, fileStore, redisStore, postgresStore, mysqlStore, etcdStore, recordStore } = FlakeId
export const { format, parse, toBigInt, toSigned, fromSigned, compare } = FlakeId
export { FlakeId, FlakeId as default }
