'use strict'
// @ts-check

// Finds the addon: the file that NAPI_RS_NATIVE_LIBRARY_PATH names, else one that was built in this checkout, else the
// package of this platform. Every program that uses flakeforge waits for this, so it loads and checks as little as it
// can. It must never try out which binary fits: one for another C library may load, and crash later.

const { closeSync, existsSync, openSync, readSync } = require('node:fs')
const { join, resolve, toNamespacedPath } = require('node:path')

/**
 * What the addon exports. Every build writes these types.
 * @typedef {typeof import('../../target/native.d.ts')} Addon
 */

/**
 * Whether a program uses musl: its header names the loader of its C library.
 * @param {string} program
 */
function usesMusl(program) {
  try {
    const head = Buffer.alloc(4096)
    const file = openSync(program, 'r')
    readSync(file, head, 0, head.length, 0)
    closeSync(file)
    return head.includes('/ld-musl-')
  } catch {
    return false // Node's or Deno's permissions do not let us read it
  }
}

/** Whether Node itself uses musl. A glibc system may have musl too, but most do not, and need not look further. */
function isMusl() {
  const loaders = ['/lib/ld-musl-x86_64.so.1', '/lib/ld-musl-aarch64.so.1']
  return loaders.some((loader) => existsSync(loader)) && usesMusl(process.execPath)
}

/**
 * A platform, as packages and files are named after it.
 * @param {string} platform
 * @param {string} arch
 * @param {boolean} [musl]
 */
function targetOf(platform, arch, musl) {
  if (platform === 'linux') return `linux-${arch}-${musl ? 'musl' : 'gnu'}`
  return platform === 'win32' ? `win32-${arch}-msvc` : `${platform}-${arch}`
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
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'MODULE_NOT_FOUND') throw error
  }
}

/** The addon, or the error that says why it cannot be loaded. */
function loadAddon() {
  const chosen = process.env.NAPI_RS_NATIVE_LIBRARY_PATH
  if (chosen) return loadFile(resolve(chosen))
  const { platform, arch } = process
  const target = targetOf(platform, arch, platform === 'linux' && isMusl())
  const name = `flakeforge-${target}`
  const file = findFile(name, `flakeforge.${target}.node`)
  if (file !== undefined) return loadFile(file)
  const addon = loadInstalled(name) ?? require('#packages').loadAddon(target) // resolving '#' takes Node half a millisecond
  if (addon !== undefined) return addon
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
}

module.exports = { loadAddon, targetOf, usesMusl }
