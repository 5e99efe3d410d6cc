// Instants in. A date without a zone is UTC, as all output is: the zone of the machine must never change a range.

import { usageError } from './faults.ts'

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?( ?Z|[+-]\d\d:?\d\d)?)?$/i

/** ISO text, Unix ms or `now`, as a Date. */
export function readDate(text: string, what = 'DATE') {
  const date = text === 'now' ? new Date() : new Date(/^-?\d+$/.test(text) ? Number(text) : readIso(text))
  if (!Number.isNaN(date.getTime())) return date
  const message = `${what} must be ISO text (2026-01-31, 2026-01-31T12:00Z), Unix ms or 'now', not '${text}'.`
  throw usageError(message)
}

/**
 * Whether there is such a day: Date takes February 30.
 * @param month from 1
 */
const isDay = (year: number, month: number, day: number) =>
  new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day

function readIso(text: string) {
  const [found, year, month, day, zone] = ISO.exec(text) ?? []
  if (found === undefined || !isDay(Number(year), Number(month), Number(day))) return Number.NaN
  return Date.parse(zone === undefined && text.length > 10 ? `${text}Z` : text)
}
