'use strict'

// The exports for CommonJS: require('flakeforge') is the class, with every other export as a property of it. index.mjs
// is its ES twin, index.d.ts and index.d.mts their types; a new export goes into all four.

const { FlakeId } = require('./lib/generator/flake-id.js')
const { Layout, makeLayouts } = require('./lib/codec/layout.js')

/** The first ID does not need these: each is loaded when it is first used. */
const LATER = {
  LeasedFlakeId: () => require('./lib/lease/leased-flake-id.js').LeasedFlakeId,
  SegmentId: () => require('./lib/lease/segment/segment-id.js').SegmentId,
  fileStore: () => require('./lib/lease/stores/open.js').fileStore,
  redisStore: () => require('./lib/lease/stores/open.js').redisStore,
  postgresStore: () => require('./lib/lease/stores/open.js').postgresStore,
  mysqlStore: () => require('./lib/lease/stores/open.js').mysqlStore,
  etcdStore: () => require('./lib/lease/stores/open.js').etcdStore,
  openStore: () => require('./lib/lease/stores/open.js').openAddress,
  recordStore: () => require('./lib/lease/stores/open.js').recordStore,
  layouts: makeLayouts,
  Seal: () => require('./lib/layout/seal.js').Seal,
  format: () => require('./lib/layout/format.js').format,
  parse: () => require('./lib/codec/text.js').parse,
  toBigInt: () => require('./lib/codec/ids.js').toBigInt,
  toSigned: () => require('./lib/codec/ids.js').toSigned,
  fromSigned: () => require('./lib/codec/ids.js').fromSigned,
  compare: () => require('./lib/codec/ids.js').compare,
  jsonReplacer: () => require('./lib/codec/json.js').jsonReplacer,
  jsonReviver: () => require('./lib/codec/json.js').jsonReviver,
}

async function createGroup(store, options) {
  return require('./lib/lease/join.js').createGroup(store, options)
}

async function restored(store, kept) {
  return require('./lib/lease/restored.js').restored(store, kept)
}

// A static method of the class for users. It is given to it here, because generators know nothing of leases.
const { join } = {
  join(store, options) {
    return require('./lib/lease/join.js').join(store, options)
  },
}
Object.defineProperty(FlakeId, 'join', { value: join, configurable: true, writable: true })

const define = (name, value) =>
  Object.defineProperty(FlakeId, name, { value, enumerable: true, configurable: true, writable: true })

define('FlakeId', FlakeId)
define('default', FlakeId)
define('Layout', Layout)
define('createGroup', createGroup)
define('restored', restored)
for (const [name, load] of Object.entries(LATER)) {
  Object.defineProperty(FlakeId, name, {
    get: () => define(name, load())[name],
    set: (value) => define(name, value), // as of any other property
    enumerable: true,
    configurable: true,
  })
}

module.exports = FlakeId
