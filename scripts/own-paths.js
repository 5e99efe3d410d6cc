'use strict'

// No binary may contain folders of the machine that built it. Panics name the files of the source, so the compiler is
// told to write them from the root of the checkout and of Cargo's folder; and every finished binary is searched for
// others.

/**
 * Flags of rustc that rename folders.
 * @param {{ checkout: string, cargo: string, rust?: string }} folders where they are for the compiler; `rust` is the
 *   source of the standard library, where that is compiled too
 */
const renaming = ({ checkout, cargo, rust }) =>
  Object.entries({ flakeforge: checkout, cargo, rust })
    .filter(([, folder]) => folder !== undefined)
    .map(([name, folder]) => `--remap-path-prefix=${folder}=${name}`)

/** Absolute paths of files that a build reads or writes, of Unix and of Windows. */
const BUILD_FILES = /(?:\b[A-Za-z]:[\\/]|(?<![\w.+@~-])\/)(?:[\w.+@~-]+[\\/])+[\w.+@~-]+\.(?:rs|c|h|o|rlib|pdb)\b/g
/** Absolute paths of home folders, whatever is in them. */
const HOMES = /(?:\b[A-Za-z]:[\\/]Users|\/(?:home|root|Users))[\\/][\w.+@~-][\w.+@~\\/-]*/g
/** As Rust's own builds name the source of the standard library. */
const isOfRust = (file) => /^\/(?:rustc\/[0-9a-f]{40}|rust\/deps)\//.test(file)

/**
 * The paths of the machine that built it, in the bytes of a binary.
 * @param {Buffer} bytes
 */
function ownPathsIn(bytes) {
  const text = bytes.toString('latin1')
  const found = [BUILD_FILES, HOMES].flatMap((pattern) => text.match(pattern) ?? [])
  return [...new Set(found)].filter((file) => !isOfRust(file))
}

/** The fault of a binary: one sentence, or none. */
function ownPathProblems(bytes) {
  const [first, ...others] = ownPathsIn(bytes)
  if (first === undefined) return []
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  return [`names ${first}${more}, on the machine that built it: pass the flags of scripts/own-paths.js to rustc`]
}

module.exports = { ownPathProblems, ownPathsIn, renaming }
