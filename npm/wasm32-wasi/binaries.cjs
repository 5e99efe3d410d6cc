'use strict'

// A process uses either binaries of flakeforge or the WebAssembly, in all its threads, because the two cannot share
// cursors. Each leaves a sign that all threads see, and refuses to load if it finds the other's. A binary's sign is
// that it is loaded; src/wasm_sign.rs reads the sign of the WebAssembly.

const fs = require('node:fs')
const { basename } = require('node:path')

// Jest gives its tests a separate `process`, with a copy of the environment.
const { env, pid, platform, report } = process.getBuiltinModule('node:process')

/**
 * The variable that is the sign, except on Linux. It contains the number of the process, because children inherit it.
 */
const VARIABLE = '_FLAKEFORGE_WASM'
/** The export of every binary: src/copies.rs. */
const EXPORTED = 'flakeforge_registry_1'
/** Elsewhere there are no binaries. */
const WITH_BINARIES = ['darwin', 'linux', 'win32']

/**
 * Leaves the sign. On Linux, native code must not read the environment, because another thread may be writing it: there
 * the sign is a descriptor of the module's file with a flag that nothing else opens it with.
 * @param {string} file the module's file
 * @returns {() => void} removes the sign
 */
function leaveSign(file) {
  if (platform === 'linux') {
    const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    return () => fs.closeSync(descriptor)
  }
  env[VARIABLE] = `${pid} ${file}`
  return () => delete env[VARIABLE]
}

/** The files that the process has loaded as code. A file may occur more than once. */
function loadedFiles() {
  try {
    const lines = fs.readFileSync('/proc/self/maps', 'utf8').split('\n')
    return lines.map((line) => line.slice(line.indexOf('/')))
  } catch {
    return reportedFiles() // another system, or Node's permissions do not let us read it
  }
}

/** The same from Node's report, without the names of peers, for which it would ask the network. */
function reportedFiles() {
  const { excludeNetwork } = report
  report.excludeNetwork = true
  try {
    return report.getReport().sharedObjects
  } finally {
    report.excludeNetwork = excludeNetwork
  }
}

/**
 * Whether a file is a binary of flakeforge, whatever its name. A removed or unreadable one is known only by its name.
 */
function isBinary(file) {
  if (/^flakeforge.*\.node\b/i.test(basename(file.replaceAll('\\', '/')))) return true
  try {
    return fs.readFileSync(file).includes(EXPORTED)
  } catch {
    return false
  }
}

/** A binary of flakeforge that this process has loaded in any thread, as a path; undefined if there is none. */
function loadedBinary() {
  if (!WITH_BINARIES.includes(platform)) return undefined
  const addons = loadedFiles().filter((file) => /\.node\b/i.test(basename(file.replaceAll('\\', '/'))))
  return [...new Set(addons)].find(isBinary)
}

/**
 * Refuses if any thread of this process has loaded a binary of flakeforge.
 * @param {string} file the module's file
 */
function insistOnNoBinary(file) {
  const binary = loadedBinary()
  if (binary === undefined) return
  throw new Error(
    `this process has already loaded ${binary}, and the WebAssembly, ${file}, cannot share node numbers with it, so both could ` +
      'generate the same IDs. Let all packages and threads load either a binary or the WebAssembly, and restart the process',
  )
}

module.exports = { insistOnNoBinary, leaveSign }
