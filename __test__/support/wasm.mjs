// The addon as WebAssembly, from where `npm run platforms` leaves it, or the one that NAPI_RS_NATIVE_LIBRARY_PATH
// names. If it is not built, its tests are skipped loudly.

import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'

const root = path.join(import.meta.dirname, '..', '..')
const chosen = process.env.NAPI_RS_NATIVE_LIBRARY_PATH

/** The file that a program loads. */
export const wasm = chosen?.endsWith('.cjs')
  ? chosen
  : path.join(root, 'target/platforms/out/wasm32-wasi/flakeforge.wasi.cjs')

/** A test that needs it. */
export const onWasm = isBuilt() ? test : test.skip

function isBuilt() {
  if (fs.existsSync(wasm)) return true
  const message = 'the WebAssembly is not built (`npm run platforms -- wasm32-wasi`): its tests do not run'
  if (wasm === chosen) throw new Error(message)
  console.warn(`\n!!! SKIPPED: ${message} !!!\n`)
  return false
}
