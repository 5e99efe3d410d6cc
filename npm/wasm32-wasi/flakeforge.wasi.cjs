'use strict'

// flakeforge's addon as WebAssembly, for Node.js: exports what the binaries of other platforms export. All threads of a
// process must share one memory: two memories would have two cursors for one node number, and generate the same IDs
// twice. A worker thread gets the memory from the thread that started it. If there was none, this throws.

const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { getEnvironmentData, isMainThread, setEnvironmentData } = require('node:worker_threads')
const { insistOnNoBinary, leaveSign } = require('./binaries.cjs')
const { version } = require('./package.json')
const { leaveSlot, makeMemory, start, takeSlot } = require('./start.cjs')

/** What threads inherit. */
const SHARED = '@flakeforge/binding-wasm32-wasi'

const FILE = join(__dirname, 'flakeforge.wasm32-wasi.wasm')

/** The first one in a process. */
function startFirst() {
  if (!isMainThread) refuseWorker()
  const takeSignAway = leaveSign(FILE)
  try {
    insistOnNoBinary(FILE)
    const module = new WebAssembly.Module(readFileSync(FILE))
    const memory = makeMemory()
    const addon = start(module, memory)
    setEnvironmentData(SHARED, { module, memory, version, file: __filename })
    return addon
  } catch (error) {
    takeSignAway()
    throw error
  }
}

function refuseWorker() {
  insistOnNoBinary(FILE)
  throw new Error(
    'in a worker thread it needs the memory of the main thread, or both could generate the same IDs. Load it there first: ' +
      "require('flakeforge') in the main program, before it starts the Worker",
  )
}

/** Another thread, or another copy in the same one, as Jest creates one for each file. */
function startAnother({ module, memory, version: theirs, file }) {
  if (theirs !== version)
    throw new Error(
      `this process has already loaded version ${theirs}, ${file}, and version ${version}, ${__filename}, cannot use its memory, ` +
        'so both could generate the same IDs. Let all packages use the same version of flakeforge',
    )
  const slot = takeSlot(memory)
  process.on('exit', () => leaveSlot(memory, slot))
  return start(module, memory, slot)
}

const shared = getEnvironmentData(SHARED)
module.exports = shared === undefined ? startFirst() : startAnother(shared)
