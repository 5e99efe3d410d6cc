// What the check of the WebAssembly's build finds, in small modules made here.

import test from 'ava'
import buildWasm from '../../scripts/platforms/build-wasm.js'

const { wasmProblems } = buildWasm
const CALLED = [
  '_initialize',
  'malloc',
  'free',
  'napi_register_wasm_v1',
  '__wasm_init_tls',
  '__tls_size',
  '__stack_pointer',
]

const text = (name) => [name.length, ...Buffer.from(name)]
/** A section; its length takes two bytes, as it may be above 127. */
const section = (id, bytes) => [id, (bytes.length & 127) | 128, bytes.length >> 7, ...bytes]

/** A module with these functions as imports, which exports the first of them under these names. */
function moduleOf(imports, exports) {
  const importing = imports.flatMap(([from, name]) => [...text(from), ...text(name), 0, 0])
  const exporting = exports.flatMap((name) => [...text(name), 0, 0])
  return Buffer.from([
    0,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, [1, 0x60, 0, 0]),
    ...section(2, [imports.length, ...importing]),
    ...section(7, [exports.length, ...exporting]),
  ])
}

const GIVEN = [
  ['env', 'napi_get_cb_info'],
  ['flakeforge', 'now'],
  ['wasi_snapshot_preview1', 'random_get'],
]

test('a module that needs only what it gets has no problems', (t) => {
  t.deepEqual(wasmProblems(moduleOf(GIVEN, CALLED)), [])
})

test('functions of a system are named: nothing provides them', (t) => {
  const module = moduleOf([...GIVEN, ['wasi_snapshot_preview1', 'fd_write'], ['env', 'open']], CALLED)
  t.deepEqual(wasmProblems(module), [
    'needs wasi_snapshot_preview1.fd_write, which nothing provides',
    'needs env.open, which nothing provides',
  ])
})

test('functions that the package calls must exist', (t) => {
  const without = CALLED.filter((name) => name !== 'malloc')
  t.deepEqual(wasmProblems(moduleOf(GIVEN, without)), ['does not export malloc'])
})
