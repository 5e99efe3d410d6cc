'use strict'
// @ts-check

// Finds the addon: the file that NAPI_RS_NATIVE_LIBRARY_PATH names, else one that was built in this checkout, else the
// package of this platform, else WebAssembly (fallback.js). Every program that uses flakeforge waits for this, so it loads
// and checks as little as it can. It must never try out which binary fits: one for another C library may load, and
// crash later.

const { closeSync, existsSync, openSync, readSync } = require('node:fs')
const { join, resolve, toNamespacedPath } = require('node:path')

/**
 * What the addon exports. Every build writes these types.
 * @typedef {typeof import('../../target/native.d.ts')} Addon
 */

const INTERPRETER = 3 // PT_INTERP

/**
 * Where the name of a program's loader is in its file, by its ELF header: 64 bits, little-endian. In most programs it is
 * near the beginning. A tool that changes it, such as patchelf, puts it at the end.
 * @param {Buffer} head
 */
function placeOfLoader(head) {
  const [start, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)]
  for (let at = start; at < start + size * count; at += size)
    if (head.readUInt32LE(at) === INTERPRETER) return Number(head.readBigUInt64LE(at + 8))
  return 0
}

/**
 * Whether a program uses musl: it names the loader of its C library.
 * @param {string} program
 */
function usesMusl(program) {
  let file
  try {
    file = openSync(program, 'r')
    const head = Buffer.alloc(4096)
    readSync(file, head, 0, head.length, 0)
    const loader = Buffer.alloc(64)
    readSync(file, loader, 0, loader.length, placeOfLoader(head))
    return loader.toString('latin1').startsWith('/lib/ld-musl-')
  } catch {
    return false // it is no such program, or Node's or Deno's permissions do not let us read it
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/**
 * The CPUs that we tell musl from glibc on, and what musl calls them in the name of its loader. The other CPUs have no
 * binary for either.
 * @type {Record<string, string | undefined>}
 */
const MUSL_CPUS = {
  x64: 'x86_64',
  arm64: 'aarch64',
  arm: 'armhf',
  ppc64: 'powerpc64le',
  s390x: 's390x',
  riscv64: 'riscv64',
}

/**
 * Whether Node itself uses musl. A glibc system may have musl too, but most do not, and need not look further.
 * @param {string} arch
 */
const isMusl = (arch) => existsSync(`/lib/ld-musl-${MUSL_CPUS[arch]}.so.1`) && usesMusl(process.execPath)

/** What `process.arch` does not tell. Only few CPUs need to know it. */
const NODE = {
  get endianness() {
    return require('node:os').endianness()
  },
  /** Of 32-bit ARM. There are builds of Node for ARMv6, where code for ARMv7 crashes. */
  get armVersion() {
    const { arm_version: version } = /** @type {Record<string, unknown>} */ (process.config.variables)
    return Number(version)
  },
}

/**
 * The CPU, as platforms are named after it.
 * @param {string} arch
 * @param {{ endianness: string, armVersion: number }} node
 */
function cpuOf(arch, node) {
  if (arch === 'ppc64' && node.endianness === 'BE') return 'ppc64be'
  return arch === 'arm' && node.armVersion < 7 ? 'armv6' : arch
}

/**
 * A platform, as packages and files are named after it. If there is no binary for it, there is no package of that name.
 * @param {string} platform
 * @param {string} cpu
 * @param {boolean} [musl]
 */
function targetOf(platform, cpu, musl) {
  if (platform === 'win32') return `win32-${cpu}-msvc`
  if (platform !== 'linux') return `${platform}-${cpu}`
  if (musl) return `linux-${cpu}-musl`
  return cpu === 'arm' ? 'linux-arm-gnueabihf' : `linux-${cpu}-gnu`
}

/** The platform that this Node was built for. */
function ownTarget() {
  const { platform, arch } = process
  return targetOf(platform, cpuOf(arch, NODE), platform === 'linux' && isMusl(arch))
}

/**
 * Loads the file just as `require` would. Making a `require` would take Node as long as loading the addon.
 * @param {string} path
 * @returns {Addon}
 */
function loadFile(path) {
  const addon = { exports: /** @type {Addon} */ ({}) }
  process.dlopen(addon, toNamespacedPath(path))
  return addon.exports
}

/**
 * Loads a JavaScript file that exports what the addon does, as the package with the WebAssembly has one.
 * @param {string} path
 * @returns {Addon}
 */
const loadProgram = (path) => require('node:module').createRequire(path)(path)

/**
 * The file that was built in this checkout, or the one in the package, where package managers put it.
 * @param {string} name
 * @param {string} file
 */
function findFile(name, file) {
  if (typeof __dirname !== 'string') return
  const own = join(__dirname, '..', '..')
  const folders = [own, join(own, 'node_modules', name), join(own, '..', name)]
  return folders.map((folder) => join(folder, file)).find((path) => existsSync(path))
}

/**
 * The addon from its package, wherever Node finds it; undefined if it is missing, and in a bundle that is an ES module.
 * @param {string} name
 * @returns {Addon | undefined}
 */
function loadInstalled(name) {
  if (typeof __filename !== 'string') return
  const { createRequire } = require('node:module')
  try {
    return createRequire(__filename)(name)
  } catch (error) {
    if (!isMissing(error, name)) throw error
  }
}

/**
 * Whether the package itself is not there, rather than something that it needs.
 * @param {unknown} error
 * @param {string} name
 */
function isMissing(error, name) {
  const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
  return code === 'MODULE_NOT_FOUND' && message.split('\n')[0].includes(name)
}

/**
 * The addon from the package of a target; undefined if it is missing. Resolving '#' takes Node half a millisecond.
 * @param {string} target
 */
const loadPackage = (target) => loadInstalled(`flakeforge-${target}`) ?? require('#packages').loadAddon(target)

/** The addon, or the error that says why it cannot be loaded. */
function loadAddon() {
  const chosen = process.env.NAPI_RS_NATIVE_LIBRARY_PATH
  if (chosen) return chosen.endsWith('.cjs') ? loadProgram(resolve(chosen)) : loadFile(resolve(chosen))
  const target = ownTarget()
  const name = `flakeforge-${target}`
  const file = findFile(name, `flakeforge.${target}.node`)
  if (file !== undefined) return loadFile(file)
  const addon = loadPackage(target) ?? require('./fallback.js').loadInstead(target, loadPackage)
  if (addon !== undefined) return addon
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
}

module.exports = { cpuOf, loadAddon, targetOf, usesMusl }
