'use strict'
// @ts-check

// Instants in. A date without a zone is UTC, as all output is: the zone of the machine must never change a range.

const { usageError } = require('./faults.js')

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?( ?Z|[+-]\d\d:?\d\d)?)?$/i

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

module.exports = { readDate }
