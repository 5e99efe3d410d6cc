'use strict'

// Fails when a binary needs a newer glibc than it promises: `node scripts/check-glibc.js 2.17 flakeforge.*.node`. The
// linker stamps each function with the glibc version that introduced it; the highest stamp is the oldest glibc that it
// loads with. Nothing else would notice: a build that needs a newer one works on the machine that made it.

const { execFileSync } = require('node:child_process')

const [limit, ...files] = process.argv.slice(2)
if (!limit || files.length === 0) {
  console.error('usage: node scripts/check-glibc.js 2.17 FILE...')
  process.exit(2)
}

/** 2.9 comes before 2.17, so versions are compared number by number. */
function compare(a, b) {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

for (const file of files) {
  const symbols = execFileSync('objdump', ['-T', file], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  const needed = symbols.split('\n').flatMap((line) => {
    const [, version, name] = line.match(/\(?GLIBC_([\d.]+)\)?\s+(\S+)$/) ?? []
    return version ? [{ version, name }] : []
  })
  // Every glibc binary has a stamp. So this is a musl binary, or objdump's output has changed.
  if (needed.length === 0) {
    console.error(`${file}: no glibc symbol found`)
    process.exitCode = 1
    continue
  }
  const highest = needed.reduce((a, b) => (compare(b.version, a.version) > 0 ? b : a))
  const ok = compare(highest.version, limit) <= 0
  console.log(`${file}: needs glibc ${highest.version} (${highest.name}), limit ${limit}: ${ok ? 'ok' : 'FAILED'}`)
  if (!ok) process.exitCode = 1
}
