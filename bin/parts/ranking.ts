// Guesses which system an ID is from. The bits of one system also give a time and a node in another, so each reading
// gets points for what is odd about it: roughly log2 of how rarely that happens. The fewest points win. It must never
// hide a reading: all are listed, each with its reasons. And it must stay free of Node: the page uses it too.

import type { IdLike, Layout, LayoutName, Parts } from '../../lib/entries/codec.ts'
import { layouts, toBigInt } from '../../lib/entries/codec.ts'
import { fromNow } from './stamps.ts'

/** What we know about a system besides its layout. */
interface Known {
  /** points because it is used less, or fits too many IDs */
  rare: number
  /** Unix ms before which there were no such IDs; else the epoch */
  since?: number
  /** whether its counter goes on from tick to tick */
  countsOn?: boolean
}

/** A system, and what follows from its layout. */
export interface System {
  name: string
  layout: Layout
  known: Known
  /** how many bits at the top of its IDs are always 0 */
  zeros: number
  /** above this, one of these bits is set */
  largest: bigint
  /** of its epoch. It is made once: with a million lines it would be a third of the time. */
  day: string
}

type TimeKind = keyof typeof TIMES

/** What an ID means in one system. */
type Judged = { name: string; layout: Layout; system: System; points: number; time: TimeKind }

export type Reading = Judged & { parts: Parts }

/** it cannot be an ID of this system */
type NoReading = Judged & { parts?: undefined }

/** the most plausible first */
export type Readings = [Reading, ...(Reading | NoReading)[]]

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MAX = 2n ** 64n - 1n
const AHEAD_MS = 60_000 // clocks differ, and some systems run ahead

const IMPOSSIBLE = 1000
const FUTURE = 60
const TOO_EARLY = 40
const NEAR_EPOCH = 15
const COUNTER_MOST = 8 // bursts happen

const KNOWN: Record<LayoutName, Known> = {
  flake: { since: Date.UTC(2012, 0), rare: 0 },
  hazelcast: { rare: 1 },
  snowcast: { rare: 3 },
  uniqueid: { since: Date.UTC(2012, 0), rare: 4 }, // any bits give it a time, because it has two bit orders
  chronicle: { since: Date.UTC(2015, 0), rare: 2 },
  'chronicle-micros': { since: Date.UTC(2015, 0), rare: 2 },
  twitter: { rare: 0 },
  discord: { rare: 0, countsOn: true },
  instagram: { rare: 1, countsOn: true },
  sonyflake: { rare: 1 },
  safe: { rare: 2 },
}

function systemOf(name: string, layout: Layout, known: Known): System {
  const [field] = layout.fields
  const zeros = field?.[0] === 'zero' ? field[1] : 0
  const day = new Date(layout.epoch).toISOString().slice(0, 10)
  return { name, layout, known, zeros, largest: 2n ** BigInt(64 - zeros) - 1n, day }
}

const SYSTEMS = (Object.keys(layouts) as LayoutName[]).map((name) => systemOf(name, layouts[name], KNOWN[name]))

/**
 * A system of one's own, for `rank`. Its IDs are expected, so nothing is rare about them. It may add an offset to them, so
 * only its layout knows which bits are 0.
 */
export const ownSystem = (name: string, layout: Layout): System => ({
  ...systemOf(name, layout, { rare: 0 }),
  largest: MAX,
})

/** The points for a time, and its kind. */
function judgeTime(
  ms: number,
  { layout: { epoch }, known: { since = epoch } }: System,
  now: number,
): [points: number, kind: TimeKind] {
  if (ms > now + AHEAD_MS) return [FUTURE, 'future']
  if (ms < since) return [TOO_EARLY, 'early']
  const age = Math.max(0, now - ms)
  const points = Math.log2(1 + age / HOUR_MS)
  if (ms - epoch < 30 * DAY_MS && age > HOUR_MS) return [NEAR_EPOCH + points, 'near']
  return [points, age < DAY_MS ? 'fresh' : 'usual']
}

/** What to say about a time of each kind. */
const TIMES = {
  zero: ({ zeros }: System) =>
    zeros === 1
      ? 'its top bit is always 0, and here it is 1'
      : `its top ${zeros} bits are always 0, and here they are not`,
  none: () => 'it makes no such ID',
  far: () => 'its time is beyond what a Date can hold',
  future: () => 'it would be in the future',
  early: () => 'there were no such IDs then',
  near: ({ day }: System) => `suspiciously close to the epoch ${day}`,
  fresh: () => 'the time is that of a fresh ID',
  usual: ({ day }: System) => `the time is between the epoch ${day} and now`,
}

/** Most counters start at 0 in each tick. Some count on, so they are seldom 0. chronicle has none. */
function judgeCounter(counter: number, { layout, known: { countsOn } }: System) {
  if (layout.fields.length === 0) return 0
  if (countsOn) return counter === 0 ? COUNTER_MOST : 0
  return Math.min(COUNTER_MOST, 3 * counter)
}

function sayCounter(counter: number, { layout, known: { countsOn } }: System) {
  if (layout.fields.length === 0) return []
  if (countsOn && counter === 0) return ['its counter counts on, so 0 is rare']
  if (countsOn || counter === 0) return [`counter ${counter} is usual`]
  return [`counter ${counter} needs ${counter + 1} IDs in one tick`]
}

/** @param id the node number */
const judgeNode = (id: number) => Math.log2(1 + id) / 2
/** @param id the node number */
const sayNode = (id: number) => (id > 255 ? [`node number ${id} is large`] : [])

/** The parts of an ID, or undefined if it is not one of the layout: in chronicle, the last few below 2^64. */
function decode(id: bigint, layout: Layout) {
  try {
    return layout.decode(id)
  } catch {
    return undefined
  }
}

/** One system's reading of an ID. */
function judge(id: bigint, system: System, now: number): Reading | NoReading {
  const { name, layout, known, largest } = system
  // decode would throw, but an error costs more than all readings together.
  if (id > largest) return { name, layout, system, points: IMPOSSIBLE, time: 'zero' }
  const parts = decode(id, layout)
  if (parts === undefined) return { name, layout, system, points: IMPOSSIBLE, time: 'none' }
  if (Number.isNaN(parts.date.getTime())) return { name, layout, system, points: IMPOSSIBLE, time: 'far' }
  const [timePoints, time] = judgeTime(parts.timestamp, system, now)
  const points = known.rare + timePoints + judgeCounter(parts.counter, system) + judgeNode(parts.id)
  return { name, layout, system, parts, points, time }
}

/**
 * All systems' readings.
 * @param own more systems, from `ownSystem`
 */
export function rank(given: IdLike, now: number = Date.now(), own: System[] = []): Readings {
  const id = toBigInt(given)
  const readings = [...own, ...SYSTEMS].map((system) => judge(id, system, now)).sort((a, b) => a.points - b.points)
  return readings as Readings // the first has parts, because any 64 bits are an ID of flake
}

const isPossible = (reading: Reading | NoReading): reading is Reading => reading.parts !== undefined

/** A reading with nothing against it except that its system is rare. */
export const isPlausible = ({ points }: Reading | NoReading) => points < TOO_EARLY

/**
 * The readings that could be meant, out of all, which are sorted best first: the others are 2^16 times as rare as the
 * best.
 */
export function contenders(readings: Readings): Reading[] {
  const bar = Math.min(TOO_EARLY, readings[0].points + 16)
  const could = readings.filter(isPossible).filter(({ points }) => points < bar)
  return could.length > 0 ? could : [readings[0]]
}

/** The reasons in words; for an implausible reading only the one that matters. */
export function reasons(reading: Reading | NoReading) {
  const { system, time } = reading
  const when = TIMES[time](system)
  if (!isPossible(reading) || !isPlausible(reading)) return when
  return [when, ...sayCounter(reading.parts.counter, system), ...sayNode(reading.parts.id)].join(', ')
}

/** A reading on one line. */
export function summary(reading: Reading | NoReading, now = Date.now()) {
  const { name, parts } = reading
  const when = parts === undefined ? 'impossible' : `${parts.date.toISOString()}, ${fromNow(parts.timestamp, now)}`
  return `${name.padEnd(16)} ${when}: ${reasons(reading)}`
}
