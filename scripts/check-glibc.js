'use strict'

// Fails when a binary needs a newer glibc than promised: `node scripts/check-glibc.js 2.17 flakeforge.*.node`. Nothing
// else would notice: a build that needs a newer one works on the machine that built it.

const { execFileSync } = require('node:child_process')
const { compareVersions, glibcOf, readElf } = require('./platforms/elf.js')

/** The output of readelf for a file. */
const read = (file) =>
  readElf(execFileSync('readelf', ['-W', '-h', '-d', '--dyn-syms', file], { encoding: 'utf8', maxBuffer: 2 ** 26 }))

/** Prints a line for a file. Returns whether it is fine. */
function check(file, limit) {
  const highest = glibcOf(read(file))
  // Every glibc binary has a stamp. So this is a musl binary, or readelf's output has changed.
  if (highest === undefined) {
    console.error(`${file}: no glibc symbol found`)
    return false
  }
  const ok = compareVersions(highest.version, limit) <= 0
  console.log(`${file}: needs glibc ${highest.version} (${highest.name}), limit ${limit}: ${ok ? 'ok' : 'FAILED'}`)
  return ok
}

function main() {
  const [limit, ...files] = process.argv.slice(2)
  if (!limit || files.length === 0) {
    console.error('usage: node scripts/check-glibc.js 2.17 FILE...')
    return 2
  }
  return files.map((file) => check(file, limit)).every(Boolean) ? 0 : 1
}

process.exitCode = main()
