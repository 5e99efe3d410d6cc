'use strict'

// The build of the WebAssembly needs, besides Cargo, the functions of a C library that Rust's standard library calls,
// and a complete package. This file provides both, and checks the contents of the module.

const fs = require('node:fs')
const path = require('node:path')
const { INSIDE, runInRoot } = require('./root.js')

const checkout = path.join(__dirname, '..', '..')
const folder = path.join(checkout, 'npm', 'wasm32-wasi')
const MODULE = 'flakeforge.wasm32-wasi.wasm'

/** Clang compiles threads' variables and atomics with these, as the Rust target does. */
const CLANG = [
  'clang',
  '--target=wasm32-wasip1-threads',
  '-pthread',
  '-O2',
  '-ffreestanding',
  '-fno-builtin',
  '-Wall',
  '-Werror',
]
const LIBC = { source: 'scripts/platforms/wasm/libc.c', object: 'target/platforms/wasm-libc.o' }

/** Flags of rustc. Nothing unwinds here. */
const FLAGS = [
  '--cfg=napi_wasi_no_heap_sync', // napi's allocator for a memory that grows: src/wasm.rs has ours
  '-Clink-self-contained=no', // Debian's Rust has no libraries for this target
  '-Clinker=wasm-ld',
  '-Lnative=/usr/lib/wasm32-wasi', // from Debian's C library, the stateless functions: strlen, memcmp, log2
  `-Zpre-link-args=${INSIDE}/${LIBC.object}`, // before it
]

/** Compiles the C functions. Resolves with the status and the output, like runInRoot. */
const compileLibc = (root) => runInRoot(root, [...CLANG, '-c', LIBC.source, '-o', LIBC.object])

/** emnapi, which is Node-API for WebAssembly: its files here, and in its packages. */
const EMNAPI = {
  'core.cjs': '@emnapi/core/dist/emnapi-core.cjs.min.js',
  'runtime.cjs': '@emnapi/runtime/dist/emnapi.cjs.min.js',
  'threads.cjs': '@emnapi/wasi-threads/dist/wasi-threads.cjs.min.js',
}

/** A file of emnapi. It has one import, which is next to it here. */
function emnapi(file) {
  const text = fs.readFileSync(path.join(checkout, 'node_modules', EMNAPI[file]), 'utf8')
  return text.replace('require("@emnapi/wasi-threads")', 'require("./threads.cjs")')
}

/** Its licence, which has to be included. */
const licence = () => fs.readFileSync(path.join(checkout, 'node_modules', '@emnapi', 'core', 'LICENSE'), 'utf8')

/**
 * Completes the package in a folder: the module, the JavaScript of npm/wasm32-wasi, and emnapi. Returns the module's
 * path.
 * @param {string} module the file from Cargo
 * @param {string} target the folder, which is recreated
 */
function completeWasm(module, target) {
  const aside = `${target}.${process.pid}`
  fs.cpSync(folder, aside, { recursive: true })
  fs.mkdirSync(path.join(aside, 'emnapi'), { recursive: true })
  for (const file of Object.keys(EMNAPI)) fs.writeFileSync(path.join(aside, 'emnapi', file), emnapi(file))
  fs.writeFileSync(path.join(aside, 'emnapi', 'LICENSE'), licence())
  fs.copyFileSync(module, path.join(aside, MODULE))
  fs.rmSync(target, { recursive: true, force: true })
  fs.renameSync(aside, target)
  return path.join(target, MODULE)
}

/** The imports that start.cjs provides. Everything else would have to come from a system, and there is none. */
const isGiven = ({ module, name }) =>
  ((module === 'env' || module === 'napi') && /^(?:napi|node_api)_\w+$/.test(name)) ||
  ['env.memory', 'flakeforge.now', 'flakeforge.print', 'wasi_snapshot_preview1.random_get'].includes(
    `${module}.${name}`,
  )

/** The exports that start.cjs calls. */
const CALLED = [
  '_initialize',
  'malloc',
  'free',
  'napi_register_wasm_v1',
  '__wasm_init_tls',
  '__tls_size',
  '__stack_pointer',
]

/** The faults in the bytes of a module: one sentence each. */
function wasmProblems(bytes) {
  const module = new WebAssembly.Module(bytes)
  const exports = WebAssembly.Module.exports(module).map(({ name }) => name)
  return [
    ...WebAssembly.Module.imports(module)
      .filter((each) => !isGiven(each))
      .map(({ module: from, name }) => `needs ${from}.${name}, which nothing provides`),
    ...CALLED.filter((name) => !exports.includes(name)).map((name) => `does not export ${name}`),
  ]
}

module.exports = { FLAGS, compileLibc, completeWasm, wasmProblems }
