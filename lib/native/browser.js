'use strict'
// @ts-check

// What bundlers for browsers put in the place of addon.js, of base/pause.js and of Node's own modules: see "browser" in
// package.json. The addon is the WebAssembly that flakeforge-wasm32-wasi has started. Files and leases do not work there.
// It must only have what making and reading IDs needs; Node must never load it.

/** @import { Wasm } from './wasm.js' */

/** The place where flakeforge-wasm32-wasi leaves the addon. */
const ADDON = Symbol.for('flakeforge.addon')

function loadAddon() {
  const addon = /** @type {Record<symbol, unknown>} */ (/** @type {unknown} */ (globalThis))[ADDON]
  if (addon === undefined)
    throw new Error(
      "In a browser, import from 'flakeforge-wasm32-wasi' (npm install flakeforge-wasm32-wasi buffer): it starts the " +
        "WebAssembly before it loads 'flakeforge'",
    )
  return addon
}

/** The coarsest clock of a browser: Firefox against fingerprinting. */
const COARSEST_MS = 100

/**
 * Of base/pause.js. A page's thread must not sleep, so this uses its time up. It ends by the clock that IDs are made by,
 * which stands still for a while in some browsers; or by the other one, if that clock is set back.
 * @param {number} ms
 */
function pause(ms) {
  const { unixNow, monotonicNow } = /** @type {{ wasm: Wasm }} */ (loadAddon()).wasm
  const [end, latest] = [unixNow() + ms, monotonicNow() + ms + COARSEST_MS]
  while (unixNow() < end && monotonicNow() < latest);
}

/** Of node:async_hooks. Browsers have no async context that could be kept. */
class AsyncResource {
  /**
   * @param {Function} call
   * @param {unknown} self
   * @param {unknown[]} args
   */
  runInAsyncScope(call, self, ...args) {
    return call.apply(self, args)
  }

  emitDestroy() {}
}

/** @param {unknown} value */
const tagOf = (value) => Object.prototype.toString.call(value)

/** Of node:util. */
const types = {
  isBigUint64Array: (/** @type {unknown} */ value) => tagOf(value) === '[object BigUint64Array]',
  isUint8Array: (/** @type {unknown} */ value) => ArrayBuffer.isView(value) && tagOf(value) === '[object Uint8Array]',
  isDate: (/** @type {unknown} */ value) => tagOf(value) === '[object Date]',
}

/** Of node:timers. A page does not end when its timers do. */
const timers = {
  /** @type {(call: () => void, ms?: number) => object} */
  setTimeout: (call, ms) => Object.assign(Object(globalThis.setTimeout(call, ms)), { ref() {}, unref() {} }),
  /** @type {(timer: unknown) => void} */
  clearTimeout: (timer) => globalThis.clearTimeout(Number(timer)),
  /** @type {(call: () => void) => unknown} */
  setImmediate: (call) => globalThis.setTimeout(call, 0),
}

module.exports = {
  ...{ loadAddon, pause },
  ...{ AsyncResource, types, ...timers },
  EventEmitter: class {}, // of node:events, for the class of leased generators
  constants: { MAX_LENGTH: 2 ** 32 }, // of node:buffer
  ...{ isAbsolute: () => true, resolve: String }, // of node:path: the addon refuses every file
  hostname: () => '', // of node:os: no name of a pod
}
