// Makes keys as a busy program does, as many as it can, or as a calm one, so many in each millisecond. As a program, it prints
// those of Bun: `bun lab/bench/make-keys.mjs N [PER_MS]`.

import { pathToFileURL } from 'node:url'

const times = (n, next) => Array.from({ length: n }, next)

function freshMillisecond() {
  const now = Date.now()
  while (Date.now() === now);
}

/**
 * `n` keys by each function, in the order in which they were made.
 * @param {(() => string)[]} nexts each makes a key
 * @param {number} [perMs] how many each makes in a millisecond; all at once without it
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
