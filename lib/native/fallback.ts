// flakeforge as WebAssembly, for platforms without a binary. It does not replace a binary that exists but fails to load: that
// is an error with its cause.

import { warn as warnOf } from '../base/errors/foreign.ts'
import type { Addon } from './types.ts'

/**
 * The packages that contain it, without `@flakeforge/binding-`. The first holds the file. Users may install it themselves;
 * package managers install one of the others where no binary fits, and if they isolate packages, only these are visible from
 * here.
 */
const PACKAGES = ['wasm32-wasi', 'other-cpu', 'other-os']

/** Warns once that this is slower. A worker thread that starts later does not repeat the warning. */
function warn(target: string) {
  const SAID = 'flakeforge.wasm'
  const { getEnvironmentData, setEnvironmentData } = process.getBuiltinModule('node:worker_threads')
  if (getEnvironmentData(SAID)) return
  setEnvironmentData(SAID, true)
  const why = `No binary for ${target} is installed, so flakeforge runs as WebAssembly, which is slower and has no files.`
  warnOf('FLAKEFORGE_WASM', why)
}

/** The WebAssembly, from the first of its packages that is installed; undefined without one. */
function load(target: string, loadPackage: (name: string) => Addon | undefined) {
  try {
    for (const name of PACKAGES) {
      const addon = loadPackage(name)
      if (addon !== undefined) return addon
    }
  } catch (cause) {
    const why = (cause as Error).message
    throw new Error(`No binary for ${target} is installed, and the WebAssembly does not load: ${why}`, { cause })
  }
}

/** The WebAssembly in place of the missing binary of `target`; undefined if it is not installed either. */
export function loadInstead(target: string, loadPackage: (name: string) => Addon | undefined) {
  const addon = load(target, loadPackage)
  if (addon !== undefined) warn(target)
  return addon
}
