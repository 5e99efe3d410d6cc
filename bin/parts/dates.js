'use strict'
// @ts-check

// Instants in and out. A date without a zone is UTC, as all output is: the zone of the machine must never change a range.

const { usageError } = require('./faults.js')

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?( ?Z|[+-]\d\d:?\d\d)?)?$/i
const YEAR_MS = 365.2425 * 86_400_000
/** @type {[name: string, ms: number][]} */
const UNITS = [
  ['year', YEAR_MS],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/**
 * ISO text, Unix ms or `now`, as a Date.
 * @param {string} text
 */
function readDate(text, what = 'DATE') {
  const date = text === 'now' ? new Date() : new Date(/^-?\d+$/.test(text) ? Number(text) : readIso(text))
  if (!Number.isNaN(date.getTime())) return date
  const message = `${what} must be ISO text (2026-01-31, 2026-01-31T12:00Z), Unix ms or 'now', not '${text}'.`
  throw usageError(message)
}

/**
 * Whether there is such a day: Date takes February 30.
 * @param {number} year
 * @param {number} month from 1
 * @param {number} day
 */
const isDay = (year, month, day) => new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day

/** @param {string} text */
function readIso(text) {
  const [found, year, month, day, zone] = ISO.exec(text) ?? []
  if (found === undefined || !isDay(Number(year), Number(month), Number(day))) return Number.NaN
  return Date.parse(zone === undefined && text.length > 10 ? `${text}Z` : text)
}

/**
 * A Date as ISO text; an ID of your own layout may have a time that no Date can hold.
 * @param {Date} date
 */
const stamp = (date) => (Number.isNaN(date.getTime()) ? 'beyond what a Date can hold' : date.toISOString())

/**
 * How long ago, or how far ahead, in the largest unit that fits.
 * @param {number} ms
 */
function fromNow(ms, now = Date.now()) {
  const away = Math.abs(now - ms)
  const unit = UNITS.find(([, size]) => away >= size)
  if (unit === undefined) return now >= ms ? 'just now' : 'now'
  const [name, size] = unit
  const count = away / size < 10 && size > 1000 ? Number((away / size).toFixed(1)) : Math.floor(away / size)
  const span = `${count} ${name}${count === 1 ? '' : 's'}`
  return now >= ms ? `${span} ago` : `in ${span}`
}

module.exports = { readDate, stamp, fromNow }
