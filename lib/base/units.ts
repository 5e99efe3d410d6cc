// Guesses the unit of a number that is unlikely to be Unix ms: read as Unix ms, seconds and years fall into the first weeks
// of 1970.

const FROM_MS = 1e11 // 1973: the first one with 12 digits
const TO_MS = 4.2e12 // 2103

const UNITS: [unit: string, inMs: number][] = [
  ['seconds', 1e3],
  ['microseconds', 1e-3],
  ['nanoseconds', 1e-6],
]

/** Whether a number may well be Unix ms. */
export const isLikelyMs = (ms: number) => ms >= FROM_MS && ms < TO_MS

/** Finer units must be recent: there are times of the far future in ms. */
const NEW_MS = 1e12 // 2001

/** The probable unit of a number, and its value in Unix ms; undefined if it may well be Unix ms. */
export function likelyUnit(number: number): { unit: string; ms: number } | undefined {
  if (isLikelyMs(number)) return // a date has eight digits at most
  const [digits, year, month = '01', day = '01'] = /^(\d{4})(\d\d)?(\d\d)?$/.exec(String(number)) ?? []
  const ms = Date.parse(`${year}-${month}-${day}T00:00Z`)
  const isDay = ms >= 0 && ms < TO_MS && new Date(ms).getUTCDate() === Number(day) // Date accepts February 30
  if (digits !== undefined && isDay) return { unit: digits.length === 4 ? 'a year' : 'a date', ms }
  const [unit, inMs] =
    UNITS.find(([, factor]) => isLikelyMs(number * factor) && (factor > 1 || number * factor >= NEW_MS)) ?? []
  if (unit !== undefined) return { unit, ms: Math.floor(number * (inMs as number)) }
}
