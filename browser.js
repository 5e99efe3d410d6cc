'use strict'

// The main entry where there can be no addon: browsers, workers and functions at the edge (see "exports" in package.json).
// It has all exports of `flakeforge/codec` and `flakeforge/remote`. What makes IDs in the process or keeps them on a store is an
// error that says what to use instead. browser.mjs is its ES twin, browser.d.ts and browser.d.mts their types.

const codec = require('./codec.js')
const json = require('./lib/codec/json.js')
const { flakeError } = require('./lib/base/errors/flake-error.js')
const { RemoteFlakeId } = require('./remote.js')

/**
 * `ERR_FLAKE_LOAD`: there is no addon here.
 * @param {string} call
 */
function noAddon(call) {
  const message =
    `${call} needs the native addon of flakeforge, and there is none in browsers, in workers that are not Node's, and at the ` +
    "edge. RemoteFlakeId of 'flakeforge/remote' takes IDs from a flakeforge-server; in a page, the package " +
    'flakeforge-wasm32-wasi can make them.'
  return flakeError(Error, 'ERR_FLAKE_LOAD', message)
}

class FlakeId {
  constructor() {
    throw noAddon('new FlakeId()')
  }

  static async join() {
    throw noAddon('FlakeId.join()')
  }
}

class LeasedFlakeId {
  constructor() {
    throw noAddon('new LeasedFlakeId()')
  }
}

class SegmentId {
  constructor() {
    throw noAddon('new SegmentId()')
  }

  static async open() {
    throw noAddon('SegmentId.open()')
  }
}

class Seal {
  constructor() {
    throw noAddon('new Seal()')
  }
}

async function createGroup() {
  throw noAddon('createGroup()')
}

/** The stores. @type {Record<string, () => never>} */
const stores = Object.fromEntries(
  ['fileStore', 'redisStore', 'postgresStore', 'mysqlStore', 'etcdStore', 'recordStore', 'openStore'].map((name) => [
    name,
    () => {
      throw noAddon(`${name}()`)
    },
  ]),
)

const others = { FlakeId, default: FlakeId, LeasedFlakeId, SegmentId, Seal, createGroup, RemoteFlakeId }
module.exports = Object.assign(FlakeId, codec, json, stores, others)
