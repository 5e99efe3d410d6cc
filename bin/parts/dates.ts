// Parses instants, with all their digits. A date without a zone is UTC, as all output is: the zone of the machine must not
// change a range.

import { likelyUnit } from '../../lib/base/units.ts'
import { usageError } from './faults.ts'

const NS_PER_MS = 1_000_000n

/** A time as written, and its span: a ms, or less if it has more digits. */
export interface Span {
  /** as ISO text, in UTC */
  text: string
  /** the first and the last ns, Unix ns */
  first: bigint
  last: bigint
}

/** An instant as a Temporal.Instant is one: a DATE has been read, so nothing is left to doubt about its unit. */
export const instantOf = (epochNanoseconds: bigint) =>
  ({ [Symbol.toStringTag]: 'Temporal.Instant', epochNanoseconds }) as const

const ISO = /^((\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d)?)?)(?:(?<=:\d\d:\d\d)\.(\d{1,9}))?( ?Z|[+-]\d\d:?\d\d)?$/i
const NUMBER = /^(-?\d+)(?:\.(\d{1,6}))?$/

/** ISO text, Unix ms or `now`. */
export function readSpan(text: string, what = 'DATE'): Span {
  const [ms, digits] = text === 'now' ? [Date.now(), ''] : (readNumber(text, what) ?? readIso(text))
  if (!Number.isNaN(new Date(ms).getTime()))
    return spanOf(BigInt(ms) * NS_PER_MS + BigInt(digits.padEnd(6, '0')), digits)
  const message = `${what} must be ISO text (2026-01-31, 2026-01-31T12:00Z), Unix ms or 'now', not '${text}'.`
  throw usageError(message)
}

/** The same as a Date. */
export const readDate = (text: string, what?: string) => new Date(Number(readSpan(text, what).first / NS_PER_MS))

/** @param digits beyond the ms, as written */
function spanOf(first: bigint, digits: string): Span {
  const ms = first / NS_PER_MS - (first % NS_PER_MS < 0n ? 1n : 0n)
  const text = new Date(Number(ms)).toISOString().replace('Z', `${digits}Z`)
  return { text, first, last: first + 10n ** BigInt(6 - digits.length) - 1n }
}

type Read = [ms: number, digits: string]

/** Unix ms; refuses numbers that are probably in another unit. */
function readNumber(text: string, what: string): Read | undefined {
  const [found, whole, digits = ''] = NUMBER.exec(text) ?? []
  if (found === undefined) return
  const meant = likelyUnit(Number(text))
  if (meant !== undefined) {
    const iso = new Date(meant.ms).toISOString()
    throw usageError(
      `${what} must be ISO text or Unix ms, but '${text}' looks like ${meant.unit}. Give ${iso} or ${meant.ms}.`,
    )
  }
  const isBelow0 = whole.startsWith('-') && digits !== '' // -0.3 is 0.7 after -1
  return isBelow0 ? [Number(whole) - 1, complement(digits)] : [Number(whole), digits]
}

const complement = (digits: string) =>
  String(10n ** BigInt(digits.length) - BigInt(digits)).padStart(digits.length, '0')

/**
 * Whether the day exists: Date accepts February 30.
 * @param month from 1
 */
const isDay = (year: number, month: number, day: number) =>
  new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day

function readIso(text: string): Read {
  const [found, whole, year, month, day, fraction = '', zone] = ISO.exec(text) ?? []
  if (found === undefined || !isDay(Number(year), Number(month), Number(day))) return [Number.NaN, '']
  const isUtc = zone === undefined && whole.length > 10
  const ms = Date.parse(`${whole}${isUtc ? 'Z' : (zone ?? '')}`)
  return [ms + Number(fraction.slice(0, 3).padEnd(3, '0')), fraction.slice(3)]
}
