// The meaning of one way's results: which operations are exact, what goes wrong in the others, and what has changed
// since they were written.

/** An operation's outcome as one word for all sizes, or one for each where they differ. */
function outcomesOf(bySize) {
  const outcomes = Object.entries(bySize).map(([size, { outcome }]) => [size, outcome])
  const [[, first]] = outcomes
  return outcomes.every(([, outcome]) => outcome === first) ? first : Object.fromEntries(outcomes)
}

/** What results.json keeps of one way: the outcomes, and one detail of each operation that is not exact. */
export function recordOf(results) {
  const operations = {}
  const details = {}
  for (const [operation, bySize] of Object.entries(results)) {
    operations[operation] = outcomesOf(bySize)
    const worst = worstOf(operations[operation])
    const wrong = Object.entries(bySize).find(([, { outcome, detail }]) => outcome === worst && detail !== undefined)
    if (wrong) details[operation] = `${wrong[0]}: ${wrong[1].detail}`
  }
  return { operations, details }
}

/** The result of an operation, over all sizes. Silent faults are the worst. */
const ORDER = ['not offered', 'inexact', 'error', 'exact']

function worstOf(outcome) {
  const outcomes = typeof outcome === 'string' ? [outcome] : Object.values(outcome)
  return ORDER.find((each) => outcomes.includes(each))
}

/** The operations by their results: `{ 'not offered': [...], inexact: [...], error: [...], exact: [...] }`. */
export function byOutcome({ operations }) {
  const groups = Object.fromEntries(ORDER.map((each) => [each, []]))
  for (const [operation, outcome] of Object.entries(operations)) groups[worstOf(outcome)].push(operation)
  return groups
}

/** The sizes at which an operation is not exact; empty if it is exact at none. */
export const sizesOfFault = (outcome) =>
  typeof outcome === 'string' ? [] : Object.keys(outcome).filter((size) => outcome[size] !== 'exact')

export const isExact = (record) => {
  const { inexact, error } = byOutcome(record)
  return inexact.length + error.length === 0
}

/** The operations of two records whose outcomes differ. */
export function changes(before, after) {
  const names = new Set([...Object.keys(before?.operations ?? {}), ...Object.keys(after.operations)])
  return [...names].filter(
    (name) => JSON.stringify(before?.operations[name]) !== JSON.stringify(after.operations[name]),
  )
}
