// "Did you mean": the known word closest to a misspelt one. Options and commands use it.

/** The edit distance from `a` to `b`: letters to insert, remove, replace or swap with their neighbour. */
function distance(a: string, b: string) {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + Number(!same))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) row[j] = Math.min(row[j], before[j - 2] + 1)
    }
    before = last
    last = row
  }
  return last[b.length]
}

/** A third of the letters may be wrong, and one of two letters. Beyond that a guess does not help. */
const allowed = (word: string) => (word.length < 2 ? 0 : Math.max(1, Math.floor(word.length / 3)))

/** Whether the letters of a word occur in another one in this order, from its first letter on: `grp` in `group`. */
function shortens(word: string, other: string) {
  let at = 0
  for (const letter of other) if (letter === word[at]) at++
  return at === word.length && word[0] === other[0]
}

/**
 * Whether one is a short form of the other, by two letters at most: `ttl` of `ttlMs`, or `ttlMs` where it is called `ttl`. With
 * more it may be another thing: `node` is not `nodeOffset`.
 */
const isShortForm = (word: string, known: string) =>
  Math.abs(word.length - known.length) <= 2 &&
  Math.min(word.length, known.length) > 2 &&
  (shortens(word, known) || word.startsWith(known))

/** Layouts under the names that they have elsewhere. `snowflake` is closer to `sonyflake` than to what it means. */
const KNOWN_AS = new Map([
  ['snowflake', 'twitter'],
  ['x', 'twitter'],
  ['bluesky', 'tid'],
  ['atproto', 'tid'],
])

/**
 * The known word that was probably meant, ignoring case: the one that has this name elsewhere; else the one
 * with the fewest wrong letters; else the shortest word that it abbreviates.
 * @returns undefined if none is close
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 40) return // no name is that long, and the work grows with the length
  const typed = word.toLowerCase()
  const meant = KNOWN_AS.get(typed)
  if (meant !== undefined && known.includes(meant)) return meant
  let best
  let bestDistance = allowed(word)
  for (const candidate of known) {
    const steps = distance(typed, candidate.toLowerCase())
    if (steps < bestDistance || (steps === bestDistance && best === undefined)) {
      best = candidate
      bestDistance = steps
    }
  }
  const forms = known.filter((candidate) => isShortForm(typed, candidate.toLowerCase()))
  return best ?? forms.sort((a, b) => a.length - b.length)[0]
}
