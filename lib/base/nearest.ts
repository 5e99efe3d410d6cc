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

/** A third of the letters may be wrong, and always at least one. Beyond that a guess does not help. */
const allowed = (word: string) => Math.max(1, Math.floor(word.length / 3))

/**
 * The known word closest to a misspelt one, ignoring case.
 * @returns undefined if none is close
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 40) return // no name is that long, and the work grows with the length
  let best
  let bestDistance = allowed(word)
  for (const candidate of known) {
    const steps = distance(word.toLowerCase(), candidate.toLowerCase())
    if (steps < bestDistance || (steps === bestDistance && best === undefined)) {
      best = candidate
      bestDistance = steps
    }
  }
  return best
}
