// Loads the addon; if that fails, lib/native/failure.ts says what to do. It must never load anything else in its place
// without a word: nobody would notice a slower or weaker generator.

import { type Addon, loadAddon } from './addon.ts'
import { nativeFailure, strangersFailure, versionFailure } from './failure.ts'

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

/** The release that this JavaScript belongs to: scripts/dist.js writes it here. */
declare const FLAKEFORGE_VERSION: string

/** Two releases would differ in what the functions mean, and neither would say so. */
function checkVersion(addon: Addon) {
  const own = typeof addon?.version === 'function' ? addon.version() : undefined
  if (own !== FLAKEFORGE_VERSION) throw versionFailure(own, FLAKEFORGE_VERSION)
}

/**
 * All binaries in this process share the cursors of the first one. The WebAssembly has looked for them when it was started:
 * npm/wasm32-wasi.
 */
function meetCopies({ meetCopies: meet }: Partial<Addon>) {
  const strangers = meet?.()
  if (strangers) throw strangersFailure(strangers)
}

const native = load()
checkVersion(native)
meetCopies(native)

export default native
