'use strict'

// Instants in and out. A date without a zone is UTC, as all output is: the zone of the machine must never change a range.

const { usageError } = require('./faults.js')

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?( ?Z|[+-]\d\d:?\d\d)?)?$/i
const YEAR_MS = 365.2425 * 86_400_000
const UNITS = [
  ['year', YEAR_MS],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/** ISO text, Unix ms or `now`, as a Date. */
function readDate(text, what = 'DATE') {
  const date = text === 'now' ? new Date() : new Date(/^-?\d+$/.test(text) ? Number(text) : readIso(text))
  if (!Number.isNaN(date.getTime())) return date
  const message = `${what} must be ISO text (2026-01-31, 2026-01-31T12:00Z), Unix ms or 'now', not '${text}'.`
  throw usageError(message)
}

function readIso(text) {
  const [found, year, month, day, zone] = ISO.exec(text) ?? []
  const isDay = new Date(Date.UTC(year, month - 1, day)).getUTCDate() === Number(day) // Date takes February 30
  if (found === undefined || !isDay) return Number.NaN
  return Date.parse(zone === undefined && text.length > 10 ? `${text}Z` : text)
}

/** A Date as ISO text; an ID of your own layout may have a time that no Date can hold. */
const stamp = (date) => (Number.isNaN(date.getTime()) ? 'beyond what a Date can hold' : date.toISOString())

/** How long ago, or how far ahead, in the largest unit that fits. */
function fromNow(ms, now = Date.now()) {
  const away = Math.abs(now - ms)
  const [name, size] = UNITS.find(([, size]) => away >= size) ?? []
  if (name === undefined) return now >= ms ? 'just now' : 'now'
  const count = away / size < 10 && size > 1000 ? Number((away / size).toFixed(1)) : Math.floor(away / size)
  const span = `${count} ${name}${count === 1 ? '' : 's'}`
  return now >= ms ? `${span} ago` : `in ${span}`
}

module.exports = { readDate, stamp, fromNow }
