// Generates keys at the rate of a busy program, as many as it can, or of a calm one, a given number in each
// millisecond. As a program, it prints those of Bun: `bun lab/bench/make-keys.mjs N [PER_MS]`.

import { pathToFileURL } from 'node:url'

const times = (n, next) => Array.from({ length: n }, next)

function freshMillisecond() {
  const now = Date.now()
  while (Date.now() === now);
}

/**
 * `n` keys by each function, in the order of their generation.
 * @param {(() => string)[]} nexts each generates a key
 * @param {number} [perMs] how many each generates in a millisecond; without it, all at once
 */
export function makeKeys(nexts, n, perMs) {
  if (perMs === undefined) return nexts.map((next) => times(n, () => next()))
  const made = nexts.map(() => [])
  while (made.some((keys) => keys.length < n)) {
    freshMillisecond()
    for (const [i, next] of nexts.entries()) made[i].push(...times(perMs, () => next()))
  }
  return made
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [n, perMs] = process.argv.slice(2).map(Number)
  const [keys] = makeKeys([globalThis.Bun.randomUUIDv7], n, perMs)
  console.log(JSON.stringify(keys))
}
