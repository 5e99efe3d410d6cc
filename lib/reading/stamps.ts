// Instants as text: as ISO text, and how long ago.

import { unixNow } from '../base/portable-timers.ts'

const YEAR_MS = 365.2425 * 86_400_000
const UNITS: [name: string, ms: number][] = [
  ['year', YEAR_MS],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
]

/** A Date as ISO text; an ID of your own layout may have a time that no Date can hold. */
export const stamp = (date: Date) => (Number.isNaN(date.getTime()) ? 'beyond what a Date can hold' : date.toISOString())

/** How long ago, or how far ahead, in the largest unit that fits. */
export function fromNow(ms: number, now = unixNow()) {
  const away = Math.abs(now - ms)
  const unit = UNITS.find(([, size]) => away >= size)
  if (unit === undefined) return now >= ms ? 'just now' : 'now'
  const [name, size] = unit
  const count = away / size < 10 && size > 1000 ? Number((away / size).toFixed(1)) : Math.floor(away / size)
  const span = `${count} ${name}${count === 1 ? '' : 's'}`
  return now >= ms ? `${span} ago` : `in ${span}`
}
