'use strict'

// What is wrong with the outcome of a scenario, in sentences; none: all is well. It must never forgive: whatever a scenario
// may legitimately meet, its members answer themselves.

/** Of a scenario that must go well. */
function judge({ name, ids, duplicates, disorders, examples, troubles }) {
  return [
    ...(duplicates > 0 ? [`${duplicates} duplicates`] : []),
    ...(disorders > 0 ? [`${disorders} IDs not above the one before`] : []),
    ...(ids === 0 ? ['no ID was made'] : []),
    ...examples,
    ...summarize(troubles),
  ].map((what) => `${name}: ${what}`)
}

/** Of the negative control, which must have duplicates and no other fault. */
function judgeControl({ name, duplicates, disorders, troubles }) {
  return [
    ...(duplicates === 0 ? ['found no duplicate: this harness would not see any'] : []),
    ...(disorders > 0 ? [`${disorders} IDs not above the one before`] : []),
    ...summarize(troubles),
  ].map((what) => `${name}: ${what}`)
}

/** Each trouble once, with how often it was met: one cause mostly meets every member. */
function summarize(troubles) {
  const met = new Map()
  for (const { who, what } of troubles) met.set(what, [...(met.get(what) ?? []), who])
  return [...met].map(([what, [first, ...others]]) => {
    const more = others.length > 0 ? ` (and ${others.length} times more)` : ''
    return `${first}${more}: ${what}`
  })
}

module.exports = { judge, judgeControl }
