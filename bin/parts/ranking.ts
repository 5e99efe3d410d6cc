// Guesses which system an ID is from. The bits of one system also give a time and a node in another, so each reading is
// judged by how probable its parts are there, in points: -log2 of the probability, so a point less is twice as likely. The
// weights are learned from IDs of the real systems: bin/parts/habits.ts. IDs of one input are judged together: `together`.
// All readings are listed, each with its reasons. It uses nothing of Node: the page uses it too.

import type { IdLike, Layout, Parts } from '../../lib/entries/codec.ts'
import { layouts, toBigInt } from '../../lib/entries/codec.ts'
import { type Habits, habitsOf, USUAL } from './habits.ts'
import { fromNow } from './stamps.ts'

/** A system, and facts of its layout. */
export interface System {
  name: string
  layout: Layout
  habits: Habits
  counterMax: number
  nodeMax: number
  /** how many bits at the top of its IDs are always 0 */
  zeros: number
  /** above this, one of these bits is set */
  largest: bigint
  /** of its epoch. It is made once: with a million lines it would be a third of the time. */
  day: string
}

type TimeKind = keyof typeof TIMES

/** An ID's meaning in one system. */
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

const IMPOSSIBLE = 10_000
const FUTURE = 100
const TOO_EARLY = 60
const NEAR_EPOCH = 10 // points: few IDs are generated in the first month of a system
const DOUBT = 10 // points: a reading that is a thousand times less likely is not mentioned

function systemOf(name: string, layout: Layout, habits: Habits): System {
  const [field] = layout.fields
  const zeros = field?.[0] === 'zero' ? field[1] : 0
  const day = new Date(layout.epoch).toISOString().slice(0, 10)
  const widthOf = (isMeant: (name: string) => boolean) =>
    layout.fields.reduce((sum, [field, bits]) => sum + (isMeant(field) ? bits : 0), 0)
  const counterMax = 2 ** widthOf((field) => field === 'counter') - 1
  const nodeBits = widthOf((field) => !['timestamp', 'counter', 'zero', 'mode'].includes(field))
  const nodeMax = layout.fields.length === 0 ? 99 : 2 ** nodeBits - 1
  return { name, layout, habits, zeros, counterMax, nodeMax, largest: 2n ** BigInt(64 - zeros) - 1n, day }
}

const SYSTEMS = Object.entries(layouts).map(([name, layout]) => systemOf(name, layout, habitsOf(name)))

/**
 * A user's own system, for `rank`. Its IDs are expected, so it has no rarity. It may add an offset to them, so only its
 * layout knows which bits are 0.
 */
export const ownSystem = (name: string, layout: Layout): System => ({
  ...systemOf(name, layout, USUAL),
  largest: MAX,
})

/** The points for a time, and its kind. */
function judgeTime(ms: number, { layout, habits }: System, now: number): [points: number, kind: TimeKind] {
  const since = habits.since ?? layout.epoch
  const [life, age] = [Math.max(now - since, HOUR_MS), Math.max(now - ms, 0)]
  // Half of the IDs that users ask about are of any time, and half are recent. A finer tick is one of more.
  const perMs = 0.5 / life + 0.5 / ((age + HOUR_MS) * Math.log(1 + life / HOUR_MS))
  const points = -Math.log2(perMs * layout.tickMs)
  if (ms > now + AHEAD_MS) return [FUTURE + points, 'future']
  if (ms < since) return [TOO_EARLY + points, 'early']
  if (ms - layout.epoch < 30 * DAY_MS && age > HOUR_MS) return [NEAR_EPOCH + points, 'near']
  return [points, age < DAY_MS ? 'fresh' : 'usual']
}

/** The text for a time of each kind. */
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

function sayCounter(counter: number, { counterMax, habits }: System) {
  if (counterMax === 0) return []
  const points = -Math.log2(habits.counter(counter, counterMax))
  return [`counter ${counter} is ${points < 8 ? 'usual' : 'rare'}`]
}

function sayNode(parts: Parts, { habits, nodeMax, layout }: System) {
  const points = -Math.log2(habits.node(parts, nodeMax))
  const usual = Math.log2(nodeMax + 1) + 2
  const names = [...new Set(layout.fields.map(([name]) => name))].filter(
    (name) => name in parts && !COMMON.includes(name),
  )
  const values = names.map((name) => `${name} ${parts[name as keyof Parts]}`).join(', ')
  return points > usual ? [`${values || 'its node'} is rare`] : []
}

const COMMON = ['timestamp', 'counter', 'mode']

/** The parts of an ID, or undefined if it is not of the layout: in chronicle, the last few below 2^64. */
function decode(id: bigint, layout: Layout) {
  try {
    return layout.decode(id)
  } catch {
    return undefined
  }
}

/** One system's reading of an ID. */
function judge(id: bigint, system: System, now: number): Reading | NoReading {
  const { name, layout, habits, largest, counterMax, nodeMax } = system
  // decode would throw, but an error costs more than all readings together.
  if (id > largest) return { name, layout, system, points: IMPOSSIBLE, time: 'zero' }
  const parts = decode(id, layout)
  if (parts === undefined) return { name, layout, system, points: IMPOSSIBLE, time: 'none' }
  if (Number.isNaN(parts.date.getTime())) return { name, layout, system, points: IMPOSSIBLE, time: 'far' }
  const [timePoints, time] = judgeTime(parts.timestamp, system, now)
  const chance = habits.counter(parts.counter, counterMax) * habits.node(parts, nodeMax)
  return { name, layout, system, parts, points: timePoints - Math.log2(chance), time }
}

/**
 * All systems' readings.
 * @param own more systems, from `ownSystem`
 * @param others the result of `together` for other IDs of the same input
 */
export function rank(
  given: IdLike,
  now: number = Date.now(),
  own: System[] = [],
  others: Weights | undefined = undefined,
): Readings {
  const id = toBigInt(given)
  const weigh = (reading: Reading | NoReading) => {
    reading.points += others?.[reading.name] ?? reading.system.habits.rare
    return reading
  }
  const readings = [...own, ...SYSTEMS].map((system) => weigh(judge(id, system, now)))
  return readings.sort((a, b) => a.points - b.points) as Readings // the first has parts: any 64 bits are an ID of flake
}

/** Points by system: how rare it is in an input. */
export type Weights = Record<string, number>

const ROUNDS = 20
const WEIGHT = 3 // IDs: our knowledge of all inputs counts as much as these

/**
 * How rare each system is among IDs of one input: as rare as everywhere, and as this input shows. The shares are those that
 * make the IDs most probable (expectation maximisation), so a file may have IDs of several systems.
 */
export function together(ids: IdLike[], now: number = Date.now()): Weights | undefined {
  if (ids.length < 2) return
  const chances = ids.map((id) => {
    const points = SYSTEMS.map((system) => judge(toBigInt(id), system, now).points)
    const best = Math.min(...points)
    return points.map((each) => 2 ** (best - each))
  })
  const before = SYSTEMS.map(({ habits }) => WEIGHT * 2 ** -habits.rare)
  let shares = before
  for (let round = 0; round < ROUNDS; round++) {
    const sums = [...before]
    for (const chance of chances) {
      const all = chance.reduce((sum, each, i) => sum + each * shares[i], 0)
      for (let i = 0; i < sums.length; i++) sums[i] += (chance[i] * shares[i]) / all
    }
    shares = sums.map((sum) => sum / (ids.length + WEIGHT))
  }
  return Object.fromEntries(SYSTEMS.map(({ name }, i) => [name, -Math.log2(shares[i])]))
}

const isPossible = (reading: Reading | NoReading): reading is Reading => reading.parts !== undefined

/** A reading with a time at which such IDs existed. */
export const isPlausible = (reading: Reading | NoReading) =>
  isPossible(reading) && reading.time !== 'future' && reading.time !== 'early'

/**
 * The plausible readings out of all, which are sorted best first: the others are 2^10 times as rare as the best.
 * @param isAlone whether no other IDs of the same input were judged with it: then the second best is always one
 */
export function contenders(readings: Readings, isAlone = false): Reading[] {
  const plausible = readings.filter(isPossible).filter(isPlausible)
  const bar = readings[0].points + DOUBT
  const could = plausible.filter(({ points }, i) => points < bar || (isAlone && i < 2))
  return could.length > 0 ? could : [readings[0]]
}

// Measured on 3 × 9 088 IDs that the weights were not learned from: in a file of IDs of one system, no line that was this
// probable was wrong. Of single IDs, one was wrong even at 0.999, so none of them counts as certain.
const SURE = 0.95

/** How probable each of the contenders is, from 0 to 1. */
export function shares(could: Reading[]) {
  const chances = could.map(({ points }) => 2 ** (could[0].points - points))
  const all = chances.reduce((sum, chance) => sum + chance, 0)
  return chances.map((chance) => chance / all)
}

/** As a percentage, from 0.1 to 99.9; with another digit if a whole number would suggest certainty. */
function percent(chance: number) {
  const shown = Math.min(Math.max(chance * 100, 0.1), 99.9)
  return `${shown.toFixed(shown < 1 || shown > 99 ? 1 : 0)} %`
}

/**
 * The names of the systems that an ID may be of, with their probabilities; none if there is no doubt.
 * @param isAlone whether no other IDs of the same input were judged with it
 */
export function doubts(readings: Readings, isAlone: boolean) {
  const could = contenders(readings, isAlone)
  const chances = shares(could)
  if (could.length === 1 || (!isAlone && chances[0] >= SURE)) return []
  return could.flatMap(({ name }, i) => (i > 1 && chances[i] < 0.01 ? [] : [`${name} ${percent(chances[i])}`]))
}

/** The reasons as text; for an implausible reading only the decisive one. */
export function reasons(reading: Reading | NoReading) {
  const { system, time } = reading
  const when = TIMES[time](system)
  if (!isPossible(reading) || !isPlausible(reading)) return when
  return [when, ...sayCounter(reading.parts.counter, system), ...sayNode(reading.parts, system)].join(', ')
}

/** A reading on one line. */
export function summary(reading: Reading | NoReading, now = Date.now()) {
  const { name, parts } = reading
  const when = parts === undefined ? 'impossible' : `${parts.date.toISOString()}, ${fromNow(parts.timestamp, now)}`
  return `${name.padEnd(16)} ${when}: ${reasons(reading)}`
}
