'use strict'

// Every optional package, required by its name: `#packages` of package.json. Node itself does not need this. It is for tools
// that collect a program's files and read the names here (Next.js, ncc, Bun). Bundlers take bundled.mjs instead, because they
// cannot put an addon into a bundle and would warn about each missing package. Each `require` has a literal name and is
// inside a `try`: only there do the tools treat a missing package as optional.

/**
 * Whether `require` threw because the package does not exist. If a package is missing when Bun's bundler builds, the bundle
 * throws an error without a code in its place.
 */
function isMissing(error) {
  const { code, message } = error
  return code === 'MODULE_NOT_FOUND' || /^Cannot require module /.test(message)
}

/** The addon of a platform, or the WebAssembly; undefined if the package is missing. */
function loadAddon(target) {
  try {
    switch (target) {
      case 'darwin-arm64':
        return require('@flakeforge/binding-darwin-arm64')
      case 'darwin-x64':
        return require('@flakeforge/binding-darwin-x64')
      case 'linux-arm-gnueabihf':
        return require('@flakeforge/binding-linux-arm-gnueabihf')
      case 'linux-arm64-gnu':
        return require('@flakeforge/binding-linux-arm64-gnu')
      case 'linux-arm64-musl':
        return require('@flakeforge/binding-linux-arm64-musl')
      case 'linux-ppc64-gnu':
        return require('@flakeforge/binding-linux-ppc64-gnu')
      case 'linux-riscv64-gnu':
        return require('@flakeforge/binding-linux-riscv64-gnu')
      case 'linux-s390x-gnu':
        return require('@flakeforge/binding-linux-s390x-gnu')
      case 'linux-x64-gnu':
        return require('@flakeforge/binding-linux-x64-gnu')
      case 'linux-x64-musl':
        return require('@flakeforge/binding-linux-x64-musl')
      case 'win32-arm64-msvc':
        return require('@flakeforge/binding-win32-arm64-msvc')
      case 'win32-ia32-msvc':
        return require('@flakeforge/binding-win32-ia32-msvc')
      case 'win32-x64-msvc':
        return require('@flakeforge/binding-win32-x64-msvc')
      case 'wasm32-wasi':
        return require('@flakeforge/binding-wasm32-wasi')
      case 'other-cpu':
        return require('@flakeforge/binding-other-cpu')
      case 'other-os':
        return require('@flakeforge/binding-other-os')
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** A client package, or undefined if it is missing. */
function loadClient(name) {
  try {
    switch (name) {
      case 'ioredis':
        return require('ioredis')
      case 'iovalkey':
        return require('iovalkey')
      case 'mariadb':
        return require('mariadb')
      case 'mysql2':
        return require('mysql2')
      case 'pg':
        return require('pg')
      case 'postgres':
        return require('postgres')
      case 'redis':
        return require('redis')
    }
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

module.exports = { loadAddon, loadClient }
