'use strict'

// The exports for CommonJS: require('flakeforge') is the class, with every other export as a property of it. index.mjs
// is its ES twin, index.d.ts and index.d.mts their types; a new export goes into all four.

const { FlakeId } = require('./lib/generator/flake-id.js')
const { Layout } = require('./lib/layout/layout.js')

/** The first ID does not need these: each is loaded when it is first used. */
const LATER = {
  LeasedFlakeId: () => require('./lib/lease/leased-flake-id.js').LeasedFlakeId,
  SegmentId: () => require('./lib/lease/segment/segment-id.js').SegmentId,
  fileStore: () => require('./lib/lease/stores/adapters.js').fileStore,
  redisStore: () => require('./lib/lease/stores/adapters.js').redisStore,
  postgresStore: () => require('./lib/lease/stores/adapters.js').postgresStore,
  mysqlStore: () => require('./lib/lease/stores/adapters.js').mysqlStore,
  etcdStore: () => require('./lib/lease/stores/adapters.js').etcdStore,
  recordStore: () => require('./lib/lease/stores/adapters.js').recordStore,
  layouts: () => require('./lib/layout/layouts.js').makeLayouts(Layout),
  format: () => require('./lib/layout/format.js').format,
  parse: () => require('./lib/layout/format.js').parse,
  toBigInt: () => require('./lib/layout/ids.js').toBigInt,
  toSigned: () => require('./lib/layout/ids.js').toSigned,
  fromSigned: () => require('./lib/layout/ids.js').fromSigned,
  compare: () => require('./lib/layout/ids.js').compare,
}

async function createGroup(store, options) {
  return require('./lib/lease/join.js').createGroup(store, options)
}

const define = (name, value) =>
  Object.defineProperty(FlakeId, name, { value, enumerable: true, configurable: true, writable: true })

define('FlakeId', FlakeId)
define('default', FlakeId)
define('Layout', Layout)
define('createGroup', createGroup)
for (const [name, load] of Object.entries(LATER)) {
  Object.defineProperty(FlakeId, name, {
    get: () => define(name, load())[name],
    set: (value) => define(name, value), // as of any other property
    enumerable: true,
    configurable: true,
  })
}

module.exports = FlakeId
