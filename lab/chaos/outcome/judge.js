'use strict'

// The errors in the outcome of a scenario, as sentences; an empty list means success. It makes no exceptions: members
// themselves handle whatever may legitimately happen in a scenario.

const { total } = require('../faults/fault.js')

/** For a scenario that must succeed. */
function judge({ name, ids, duplicates, disorders, examples, troubles }) {
  return [
    ...(duplicates > 0 ? [`${duplicates} duplicates`] : []),
    ...(disorders > 0 ? [`${disorders} IDs not above the one before`] : []),
    ...(ids === 0 ? ['no ID was made'] : []),
    ...examples,
    ...summarize(troubles),
  ].map((what) => `${name}: ${what}`)
}

/** For the negative control, which must have duplicates and no other fault. */
function judgeControl({ name, duplicates, disorders, troubles }) {
  return [
    ...(duplicates === 0 ? ['found no duplicate: this harness would not see any'] : []),
    ...(disorders > 0 ? [`${disorders} IDs not above the one before`] : []),
    ...summarize(troubles),
  ].map((what) => `${name}: ${what}`)
}

/**
 * For a run that is long enough to prove something: whether enough has happened. In a shorter run, little may happen.
 */
function judgeExtent(results, seconds, full) {
  if (full === undefined || results.length === 0 || seconds < full.seconds) return []
  const ids = results.reduce((sum, result) => sum + result.ids, 0)
  const faults = results.reduce((sum, { counts }) => sum + total(counts), 0)
  return [
    ...(faults < full.faults ? [`only ${faults} faults: a full run has ${full.faults} at least`] : []),
    ...(ids < full.ids ? [`only ${ids} IDs: a full run has ${full.ids} at least`] : []),
  ]
}

/** Each trouble once, with its count: one cause usually affects every member. */
function summarize(troubles) {
  const met = new Map()
  for (const { who, what } of troubles) met.set(what, [...(met.get(what) ?? []), who])
  return [...met].map(([what, [first, ...others]]) => {
    const more = others.length > 0 ? ` (and ${others.length} times more)` : ''
    return `${first}${more}: ${what}`
  })
}

module.exports = { judge, judgeControl, judgeExtent }
