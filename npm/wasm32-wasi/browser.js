// flakeforge for browsers: starts the WebAssembly, then loads flakeforge, whose files for browsers get it from here.
// The memory belongs to this page or worker alone, and all copies of this package there share it. It must exist before
// flakeforge is loaded, so this module waits.

import { Buffer } from 'buffer'
import { getBuiltinModule, pauseBy } from './page.cjs'
import { makeMemory, start } from './start.cjs'

/** The globals of Node.js that flakeforge uses. */
const nodeLike = {
  env: {},
  getBuiltinModule,
  emitWarning: (text, { code }) => console.warn(`${code}: ${text}`),
  nextTick: (call, ...args) => queueMicrotask(() => call(...args)),
  hrtime() {
    const ms = performance.now()
    return [Math.floor(ms / 1e3), (ms % 1e3) * 1e6]
  },
}

globalThis.Buffer ??= Buffer
globalThis.process = { ...nodeLike, ...globalThis.process }

/** The addon of this page, and its promise while it starts. */
const [ADDON, STARTING] = ['addon', 'starting'].map((name) => Symbol.for(`flakeforge.${name}`))

async function startHere() {
  const file = await fetch(new URL('./flakeforge.wasm32-wasi.wasm', import.meta.url))
  if (!file.ok) throw new Error(`flakeforge: ${file.url} cannot be loaded, status ${file.status}`)
  const module = await WebAssembly.compile(await file.arrayBuffer())
  const addon = start(module, makeMemory())
  addon.wasm.pause = pauseBy(addon.wasm)
  console.warn(
    'FLAKEFORGE_WASM: flakeforge runs as WebAssembly: slower, without files and leases. Every tab and every worker needs a ' +
      'separate node number, or they can generate the same IDs.',
  )
  return addon
}

globalThis[STARTING] ??= startHere().catch((error) => {
  delete globalThis[STARTING] // another copy may find its file
  throw error
})
globalThis[ADDON] = await globalThis[STARTING]

const all = await import('flakeforge/with-addon')

export const { FlakeId, Layout, layouts, format, isId, parse, toBigInt, toSigned, fromSigned, compare } = all
export default FlakeId
