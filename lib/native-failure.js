'use strict'

// Why the native addon could not be loaded, as one error that says what to do about it.
//
// Loaders keep only the texts of the errors they met, and Node gives one text for several causes. So a cause is found by its
// text, and by what the process was started with.
// It must never give advice that a user of the published package cannot follow: there is nothing to build there.

const { existsSync } = require('node:fs')
const path = require('node:path')
const { loadError } = require('./errors.js')

/** `process.platform` and `process.arch` of the binaries that are published. */
const SUPPORTED = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64']
const SUPPORTED_TEXT =
  'Linux (x64 or arm64, with glibc 2.17 or newer or with musl), macOS (x64 or arm64) and Windows (x64 or arm64)'

const DENO_FLAGS = '--allow-ffi --allow-read --allow-env'
const REINSTALL = 'remove node_modules and install again on this machine'

/** Texts of a loader that tried a place where nothing is. */
const NOTHING_THERE = /^(?:Cannot find (?:module|package|native binding)|Unsupported |Failed to load native binding)/

/** What went wrong with an addon that is there: how to tell, and what to say. The first that fits is taken. */
const CAUSES = [
  [
    /run again with the --allow-/,
    ({ message }) => `Deno did not allow it; run \`deno run ${DENO_FLAGS}\` (${message})`,
  ],
  [/loading addons is disabled/, disabled],
  [/Access to this API has been restricted/, unreadable],
  [/version [`']GLIBC_([\d.]+)' not found/, oldGlibc],
  [/ld-linux|libc\.so\.6|libc\.musl|ld-musl/, otherLibc],
  [/invalid ELF|ELF class|too short|truncated|mach-o|Mach-O|valid Win32|exec format/i, damaged],
  [/^/, ({ message }) => `${message} (it supports ${SUPPORTED_TEXT})`],
]

function disabled() {
  if (process.permission === undefined) {
    return "Node was started with --no-addons; leave that out (look in NODE_OPTIONS and in a Worker's execArgv too)"
  }
  return "Node's permission model forbids native addons; add --allow-addons beside --permission"
}

function unreadable() {
  return "Node's permission model does not let it read the file; add --allow-fs-read with the folder of your node_modules"
}

function oldGlibc({ message }) {
  const [, needed] = /GLIBC_([\d.]+)/.exec(message)
  return `this system's glibc is older than ${needed}, which the binary needs; it supports ${SUPPORTED_TEXT} (${message})`
}

function otherLibc({ message }) {
  return `the installed binary is for the other C library of Linux, glibc or musl; ${REINSTALL} (${message})`
}

function damaged({ message }) {
  return `the file is damaged, or of another platform; ${REINSTALL} (${message})`
}

/** An error and its causes, each with the first line of its text. Under Jest they are not of this realm's Error. */
function* chain(error) {
  for (let at = error; typeof at?.message === 'string'; at = at.cause) {
    yield { message: at.message.split('\n')[0], error: at }
  }
}

/** No addon was found at all. */
function missing(errors) {
  const own = `${process.platform}-${process.arch}`
  const hint = isSourceCheckout() ? '; in this source checkout `npm run build` makes one (it needs Rust)' : ''
  if (!SUPPORTED.includes(own)) return `there is no binary for ${own}; it supports ${SUPPORTED_TEXT}${hint}`
  const name = nameOfMissing(errors) ?? `for ${own}`
  return (
    `the package ${name} is not installed; run \`npm install --include=optional\`, and if node_modules or the lock file ` +
    `come from another platform, remove both before it${hint}`
  )
}

/** The platform package that a loader looked for. */
function nameOfMissing(errors) {
  const names = errors.map(({ message }) => /'(flakeforge-(?!wasm)[a-z\d-]+)/.exec(message)?.[1])
  return names.find((name) => name !== undefined)
}

/** Bundles have no folder of their own. */
const isSourceCheckout = () => typeof __dirname === 'string' && existsSync(path.join(__dirname, '..', 'Cargo.toml'))

/** The error for what a loader of the addon has thrown. */
function nativeFailure(thrown) {
  const errors = [...chain(thrown)]
  const tried = errors.filter(({ message }) => !NOTHING_THERE.test(message))
  for (const [text, say] of CAUSES) {
    const met = tried.find(({ message }) => text.test(message))
    if (met !== undefined) return loadError(say(met), met.error)
  }
  const cause = errors.find(({ message }) => /'flakeforge-(?!wasm)/.test(message)) ?? errors.at(-1)
  return loadError(missing(errors), cause?.error)
}

module.exports = { SUPPORTED, nativeFailure }
