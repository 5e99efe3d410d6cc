// Loads the addon; if that fails, lib/native/failure.ts makes the error. Nothing else takes its place without a warning: a
// slower or weaker generator would go unnoticed.

import { loadAddon } from './addon.ts'
import { nativeFailure, strangersFailure, versionFailure } from './failure.ts'
import type { Addon } from './types.ts'

/** Where @flakeforge/binding-wasm32-wasi puts the addon that it has started in a browser. */
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

/** The release of this JavaScript: scripts/dist.js writes it here. */
declare const FLAKEFORGE_VERSION: string

/** The functions of two releases may differ in meaning, without any sign of it. */
function checkVersion(addon: Addon) {
  const own = typeof addon?.version === 'function' ? addon.version() : undefined
  if (own !== FLAKEFORGE_VERSION) throw versionFailure(own, FLAKEFORGE_VERSION)
}

/**
 * All binaries in this process share the cursors of the first one. The WebAssembly looked for them when it started:
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
