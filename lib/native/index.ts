// Loads the addon; if that fails, lib/native/failure.ts says what to do. It must never load anything else in its place
// without a word: nobody would notice a slower or weaker generator.

import { type Addon, loadAddon } from './addon.ts'
import { nativeFailure } from './failure.ts'

/** Where @flakeforge/binding-wasm32-wasi leaves the addon that it has started in a browser. */
const STARTED: unique symbol = Symbol.for('flakeforge.addon')

/** The exports of the addon: see src/. */
function load(): Addon {
  const { [STARTED]: started } = globalThis as { [STARTED]?: Addon }
  if (started !== undefined) return started
  try {
    return loadAddon()
  } catch (cause) {
    throw nativeFailure(cause)
  }
}

const native = load()

// Generators with one node number share a cursor within one copy of the addon; two copies cannot know of each other.
const OTHER_COPY = Symbol.for('flakeforge.registry')
const name = native.registryName()
const marks = process as unknown as Record<symbol, unknown>
if (marks[OTHER_COPY] === undefined) {
  Object.defineProperty(process, OTHER_COPY, { value: name })
} else if (marks[OTHER_COPY] !== name) {
  const here = import.meta.dirname ?? 'a bundle'
  process.emitWarning(
    `Two copies of flakeforge are loaded, the second from ${here}. Generators of one copy do not see those of the other. ` +
      'Give them different node numbers, or let all packages use the same version of flakeforge.',
    { code: 'FLAKEFORGE_TWO_COPIES' },
  )
}

export default native
