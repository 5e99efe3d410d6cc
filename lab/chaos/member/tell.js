'use strict'

// Tells the harness the errors and warnings of a member: if it generates no ID for long, the last one explains why.

const BETWEEN_MS = 1000

let toldAt = Number.NEGATIVE_INFINITY

/** At most one per second. In a thread there is nobody to tell. */
function tell({ code, message }) {
  if (!process.connected || performance.now() - toldAt < BETWEEN_MS) return
  toldAt = performance.now()
  process.send(`${code}: ${message}`)
}

module.exports = { tell }
