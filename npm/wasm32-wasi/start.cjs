'use strict'

// Starts the module on a memory: the imports of Rust, and Node-API by emnapi. Every thread of a process has a separate
// instance on the same memory, as threads of a native addon share theirs; this is how they share the cursors. Code of
// the module never runs on another thread's stack.

const { createNapiModule } = require('./emnapi/core.cjs')
const { createContext } = require('./emnapi/runtime.cjs')
const { monotonicNow, unixNow } = require('./clock.cjs')

const PAGE = 65536

/** As many pages as build.rs sets for the module, for everything but the stacks of other threads. */
const OWN_PAGES = 64 * 16
/** Each other thread has a slot behind them: its thread-local values, and above them its stack. */
const SLOT = 2 * PAGE
const SLOTS = 256
/** The first slot has no stack: its words say which slots are in use. */
const SLOTS_AT = OWN_PAGES * PAGE

/** A memory for the threads of a process. It never grows: engines tell other threads late that it has. */
function makeMemory() {
  const pages = OWN_PAGES + (SLOTS * SLOT) / PAGE
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true })
}

/** The module's imports besides Node-API. */
function ownImports(memory) {
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length).slice() // text is never read from shared memory
  return {
    flakeforge: {
      now: (monotonic) => (monotonic ? monotonicNow() : unixNow()),
      print: (at, length) => console.error(new TextDecoder().decode(bytes(at, length))),
    },
    wasi_snapshot_preview1: {
      random_get(at, length) {
        new Uint8Array(memory.buffer, at, length).set(crypto.getRandomValues(new Uint8Array(length)))
        return 0
      },
    },
  }
}

/** Takes a free slot, and returns its number. */
function takeSlot(memory) {
  const inUse = new Int32Array(memory.buffer, SLOTS_AT, SLOTS)
  for (let slot = 1; slot < SLOTS; slot++) if (Atomics.compareExchange(inUse, slot, 0, 1) === 0) return slot
  throw new Error(`flakeforge as WebAssembly is already loaded ${SLOTS} times in this process, by threads or by copies of it`)
}

/** Releases a slot, when its thread never runs the module again. */
function leaveSlot(memory, slot) {
  Atomics.store(new Int32Array(memory.buffer, SLOTS_AT, SLOTS), slot, 0)
}

/** Makes a slot the place of this instance's thread-local values and stack. No code of the module has run before. */
function moveInto(slot, { __tls_size, __stack_pointer, __wasm_init_tls }) {
  const bottom = SLOTS_AT + slot * SLOT
  // The stack grows down from the top to the thread-local values.
  if (__tls_size.value > PAGE / 2) throw new Error('flakeforge: the thread-local values take too much of a stack')
  __stack_pointer.value = bottom + SLOT
  __wasm_init_tls(bottom)
}

/** What JavaScript needs from the module besides the addon: see lib/native/wasm.js. */
function besides(instance, memory) {
  return {
    monotonicNow,
    unixNow,
    /** Bytes that both sides see, and that are never freed. */
    room(size) {
      const at = instance.exports.malloc(size)
      if (at === 0) throw new Error('flakeforge as WebAssembly has used up its memory of 64 MiB')
      return new Uint8Array(memory.buffer, at, size)
    },
  }
}

/**
 * Starts the module, and returns its exports.
 * @param {WebAssembly.Module} module
 * @param {WebAssembly.Memory} memory
 * @param {number} [slot] of a thread that is not the first one on this memory
 */
function start(module, memory, slot) {
  const napi = createNapiModule({ context: createContext(), asyncWorkPoolSize: 0 })
  const imports = { ...ownImports(memory), env: { ...napi.imports.napi, memory }, napi: napi.imports.napi }
  const instance = new WebAssembly.Instance(module, imports)
  if (slot === undefined) {
    instance.exports._initialize()
    for (const [name, register] of Object.entries(instance.exports)) if (name.startsWith('__napi_register__')) register()
  } else {
    moveInto(slot, instance.exports)
  }
  const addon = napi.init({ instance, module, memory, table: instance.exports.__indirect_function_table })
  return Object.assign(addon, { wasm: besides(instance, memory) })
}

module.exports = { leaveSlot, makeMemory, start, takeSlot }
