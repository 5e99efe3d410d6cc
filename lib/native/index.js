'use strict'
// @ts-check

// Loads the addon; if that fails, lib/native/failure.js says what to do. It must never load anything else in its place
// without a word: nobody would notice a slower or weaker generator.

const { loadAddon } = require('./addon.js')

/** The exports of the addon: see src/. */
function load() {
  try {
    return loadAddon()
  } catch (cause) {
    throw require('./failure.js').nativeFailure(cause)
  }
}

const native = load()

// Generators with one node number share a cursor within one copy of the addon; two copies cannot know of each other.
const OTHER_COPY = Symbol.for('flakeforge.registry')
const name = native.registryName()
const marks = /** @type {Record<symbol, unknown>} */ (/** @type {unknown} */ (process))
if (marks[OTHER_COPY] === undefined) {
  Object.defineProperty(process, OTHER_COPY, { value: name })
} else if (marks[OTHER_COPY] !== name) {
  const here = typeof __dirname === 'string' ? __dirname : 'a bundle'
  process.emitWarning(
    `Two copies of flakeforge are loaded, the second from ${here}. Generators of one copy do not see those of the other. ` +
      'Give them different node numbers, or let all packages use the same version of flakeforge.',
    { code: 'FLAKEFORGE_TWO_COPIES' },
  )
}

module.exports = native
