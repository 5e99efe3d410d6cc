'use strict'
// @ts-check

// What a check found wrong: what was seen, what was wanted, and what to do. All errors of a user's store end as one.

class Finding extends Error {
  /**
   * @param {string} seen
   * @param {string} wanted
   * @param {string} todo
   */
  constructor(seen, wanted, todo) {
    super(seen)
    this.seen = seen
    this.wanted = wanted
    this.todo = todo
  }

  /**
   * Any error as a finding.
   * @param {Error & { why?: string }} error
   */
  static of(error) {
    if (error instanceof Finding) return error
    const why = error.why === undefined ? '' : ` (${error.why})`
    return new Finding(`${error.message}${why}`, 'a right answer to every call', 'correct the function that is named')
  }
}

/**
 * Text in a line of the report: short, and without line breaks.
 * @param {unknown} value
 */
function show(value) {
  if (typeof value !== 'string') return String(value)
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 40)}… (${value.length} characters)` : text
}

exports.Finding = Finding
exports.show = show
