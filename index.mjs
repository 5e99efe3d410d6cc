// The ES twin of index.js.

import FlakeId from './index.js'

export const { LeasedFlakeId, SegmentId, Layout, layouts, Seal } = FlakeId
export const {
  createGroup,
  restored,
  fileStore,
  redisStore,
  postgresStore,
  mysqlStore,
  etcdStore,
  openStore,
  recordStore,
} = FlakeId
export const { format, parse, toBigInt, toSigned, fromSigned, compare } = FlakeId
export const { jsonReplacer, jsonReviver } = FlakeId
export { FlakeId, FlakeId as default }
