'use strict'

// The parts of Node.js that flakeforge uses, for a page: the modules from `process.getBuiltinModule()`, and a way to
// wait. Files and leases do not work there, so this has only what generating and reading IDs needs.

/** The coarsest clock of a browser: Firefox against fingerprinting. */
const COARSEST_MS = 100

/**
 * A page's thread must not sleep, so this busy-waits. It ends by the clock that IDs are generated with, which stops for
 * a while in some browsers; or by the other one, if that clock is set back.
 */
const pauseBy =
  ({ unixNow, monotonicNow }) =>
  (ms) => {
    const [end, latest] = [unixNow() + ms, monotonicNow() + ms + COARSEST_MS]
    while (unixNow() < end && monotonicNow() < latest);
  }

/** Browsers have no async context that could be kept. */
class AsyncResource {
  runInAsyncScope(call, self, ...args) {
    return call.apply(self, args)
  }

  emitDestroy() {}
}

const MODULES = {
  'node:async_hooks': { AsyncResource },
  'node:buffer': { constants: { MAX_LENGTH: 2 ** 32 } },
  'node:events': { EventEmitter: class {} }, // for the class of leased generators
  'node:os': { hostname: () => '' }, // no name of a pod
  'node:path': { isAbsolute: () => true, resolve: String }, // the addon rejects every file
  'node:timers': {
    // a page does not end when its timers do
    setTimeout: (call, ms) => Object.assign(Object(globalThis.setTimeout(call, ms)), { ref() {}, unref() {} }),
    clearTimeout: (timer) => globalThis.clearTimeout(Number(timer)),
    setImmediate: (call) => globalThis.setTimeout(call, 0),
  },
}

const getBuiltinModule = (name) => MODULES[name] ?? {}

module.exports = { getBuiltinModule, pauseBy }
