// The ES twin of browser.js. Browsers load the copy of it in web/, where browser.js is an ES module too.

import FlakeId from './browser.js'

export const { LeasedFlakeId, SegmentId, Seal, RemoteFlakeId } = FlakeId
export const { createGroup, openStore, fileStore, redisStore, postgresStore, mysqlStore, etcdStore, recordStore } =
  FlakeId
export const { Layout, layouts, format, parse, toBigInt, toSigned, fromSigned, compare } = FlakeId
export const { jsonReplacer, jsonReviver } = FlakeId
export { FlakeId, FlakeId as default }
