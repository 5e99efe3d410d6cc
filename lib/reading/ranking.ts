// Guesses which system an ID is from. The bits of one system also give a time and a node in another, so each reading is
// judged by how probable its parts are there, in points: -log2 of the probability, so a point less is twice as likely. What is
// known of the systems is in habits.ts. IDs of one input are judged together: `together`. All readings are listed, each with
// its reasons.

import { unixNow } from '../base/portable-timers.ts'
import { type IdLike, toBigInt } from '../codec/ids.ts'
import { type Layout, layouts } from '../codec/layout.ts'
import type { Parts } from '../codec/parts.ts'
import { type Habits, habitsOf, likeliness, snowflake } from './habits.ts'
import { fromNow } from './stamps.ts'

/** A system, and facts of its layout. */
export interface System {
  name: string
  layout: Layout
  habits: Habits
  /** how many values each field can have; `id` is all node fields together */
  sizes: Record<string, number>
  /** log2 of how many IDs a tick can have */
  lowBits: number
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

export type Reading = Judged & {
  parts: Parts
  /** for each kind of IDs of the system, how much more probable node and counter are than at random */
  kinds: number[]
  /** how probable it is that it comes from another system with the same layout */
  twins: Record<string, number>
}

/** it cannot be an ID of this system */
type NoReading = Judged & { parts?: undefined }

/** the most plausible first */
export type Readings = [Reading, ...(Reading | NoReading)[]] & {
  /** the points of a system that is not in our table */
  unknown: number
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const MAX = 2n ** 64n - 1n
const AHEAD_MS = 60_000 // clocks differ, and some systems run ahead

const IMPOSSIBLE = 10_000
const FUTURE = 100
const TOO_EARLY = 60
const NEAR_EPOCH = 10 // points: few IDs are generated in the first month of a system
const DOUBT = 10 // points: a reading that is a thousand times less likely is not mentioned

const HOSTS = 100 // of the decimal layouts

function systemOf(name: string, layout: Layout, habits?: Habits): System {
  const [field] = layout.fields
  const zeros = field?.[0] === 'zero' ? field[1] : 0
  const day = new Date(layout.epoch).toISOString().slice(0, 10)
  const sizes: Record<string, number> = {}
  let nodes = layout.fields.length === 0 ? HOSTS : 1
  for (const [field, bits] of layout.fields) {
    if (['timestamp', 'zero', 'mode'].includes(field)) continue
    sizes[field] = (sizes[field] ?? 1) * 2 ** bits
    if (field !== 'counter') nodes *= 2 ** bits
  }
  sizes.id = nodes
  const lowBits = Math.log2(nodes * (sizes.counter ?? 1))
  return {
    name,
    layout,
    habits: habits ?? habitsOf('', nodes),
    sizes,
    lowBits,
    zeros,
    largest: 2n ** BigInt(64 - zeros) - 1n,
    day,
  }
}

const SYSTEMS = Object.entries(layouts).map(([name, layout]) => systemOf(name, layout, habitsOf(name)))

/**
 * A user's own system, for `rank`. Its IDs are expected, so it has no rarity. It may add an offset to them, so only its
 * layout knows which bits are 0.
 */
export const ownSystem = (name: string, layout: Layout): System => ({ ...systemOf(name, layout), largest: MAX })

/** The probability of a time in each ms: half of the IDs that users ask about are of any time, and half are recent. */
function chanceOfMs(ms: number, { layout, habits }: System, now: number) {
  const since = habits.since ?? layout.epoch
  const [life, age] = [Math.max(now - since, HOUR_MS), Math.max(now - ms, 0)]
  return 0.5 / life + 0.5 / ((age + HOUR_MS) * Math.log(1 + life / HOUR_MS))
}

/** The points against a time, and its kind. */
function judgeTime(ms: number, { layout, habits }: System, now: number): [points: number, kind: TimeKind] {
  const since = habits.since ?? layout.epoch
  const age = now - ms
  if (ms > now + AHEAD_MS) return [FUTURE, 'future']
  if (ms < since) return [TOO_EARLY, 'early']
  if (ms - layout.epoch < 30 * DAY_MS && age > HOUR_MS) return [NEAR_EPOCH, 'near']
  return [0, age < DAY_MS ? 'fresh' : 'usual']
}

/** The text for a time of each kind. */
const TIMES = {
  zero: ({ zeros }: System) =>
    zeros === 1
      ? 'its top bit is always 0, and here it is 1'
      : `its top ${zeros} bits are always 0, and here they are not`,
  none: () => 'it generates no such ID',
  far: () => 'its time is beyond what a Date can hold',
  future: () => 'it would be in the future',
  early: () => 'there were no such IDs then',
  near: ({ day }: System) => `suspiciously close to the epoch ${day}`,
  fresh: () => 'the time is that of a fresh ID',
  usual: ({ day }: System) => `the time is between the epoch ${day} and now`,
}

const COMMON = ['timestamp', 'counter', 'mode']
const isCounter = (field: string) => field === 'counter'
export const isNode = (field: string) => !COMMON.includes(field)

/** How much more probable these fields are in a system than at random. */
export const likelinessOf = (parts: Parts, { habits, sizes }: System, isOf: (field: string) => boolean) =>
  habits.kinds.reduce((sum, kind) => sum + kind.share * likeliness(kind, parts, sizes, isOf), 0)

const RARE = 0.25 // times the probability at random

function sayCounter(parts: Parts, system: System) {
  if (system.sizes.counter === undefined) return []
  return [`counter ${parts.counter} is ${likelinessOf(parts, system, isCounter) < RARE ? 'rare' : 'usual'}`]
}

function sayNode(parts: Parts, system: System) {
  const names = [...new Set(system.layout.fields.map(([name]) => name))].filter((name) => name in parts && isNode(name))
  const values = names.map((name) => `${name} ${parts[name as keyof Parts]}`).join(', ')
  return likelinessOf(parts, system, isNode) < RARE ? [`${values || 'its node'} is rare`] : []
}

/** The parts of an ID, or undefined if it is not of the layout: in chronicle, the last few below 2^64. */
function decode(id: bigint, layout: Layout) {
  try {
    return layout.decode(id)
  } catch {
    return undefined
  }
}

/** One system's reading of an ID. Its points are those against its time only. */
function judge(id: bigint, system: System, now: number): Reading | NoReading {
  const { name, layout, habits, sizes, largest } = system
  // decode would throw, but an error costs more than all readings together.
  if (id > largest) return { name, layout, system, points: IMPOSSIBLE, time: 'zero' }
  const parts = decode(id, layout)
  if (parts === undefined) return { name, layout, system, points: IMPOSSIBLE, time: 'none' }
  if (Number.isNaN(parts.date.getTime())) return { name, layout, system, points: IMPOSSIBLE, time: 'far' }
  const [points, time] = judgeTime(parts.timestamp, system, now)
  const kinds = habits.kinds.map((kind) => likeliness(kind, parts, sizes))
  return { name, layout, system, parts, points, time, kinds, twins: {} }
}

/** What an ID is in each system, in the order of the table. */
export const judgeAll = (id: bigint, now: number) => SYSTEMS.map((system) => judge(id, system, now))

/** -log2 of how much more probable node and counter are than at random, with these shares of the kinds. */
export const against = (kinds: number[], shares: number[]) =>
  -Math.log2(kinds.reduce((sum, likeliness, i) => sum + likeliness * shares[i], 0))

export const sharesOf = ({ habits }: System) => habits.kinds.map(({ share }) => share)

/** The other systems with the same layout, as parts of the reading's probability. */
function twinsOf({ kinds, system }: Reading, shares: number[]) {
  const twins: Record<string, number> = {}
  const all = 2 ** -against(kinds, shares)
  for (const [i, { of }] of system.habits.kinds.entries())
    if (of !== undefined) twins[of] = (twins[of] ?? 0) + (kinds[i] * shares[i]) / all
  return twins
}

/** For an ID alone: how improbable it is among all 64-bit numbers. */
function pointsAlone({ parts, points, kinds, system }: Reading, now: number) {
  const time = -Math.log2(chanceOfMs(parts.timestamp, system, now) * system.layout.tickMs)
  return points + time + system.lowBits + against(kinds, sharesOf(system)) + system.habits.rare
}

/** An ID of a system that is not in our table, alone: any number of 63 bits. */
const UNKNOWN_ALONE = 63 + 8

/**
 * All systems' readings.
 * @param own more systems, from `ownSystem`
 * @param others the result of `together` for other IDs of the same input
 * @param form the system that has the text form of the ID: other systems do not write their IDs in it
 */
export function rank(
  given: IdLike,
  now: number = unixNow(),
  own: System[] = [],
  others: Together | undefined = undefined,
  form = '',
): Readings {
  const id = toBigInt(given)
  const weigh = (reading: Reading | NoReading) => {
    if (isPossible(reading)) {
      const { kinds, system, name } = reading
      reading.twins = twinsOf(reading, others?.[name] ?? sharesOf(system))
      reading.points = others === undefined ? pointsAlone(reading, now) : reading.points + against(kinds, others[name])
    }
    if (reading.name === form) reading.points -= OWN_FORM
    return reading
  }
  const readings = [...own, ...SYSTEMS].map((system) => weigh(judge(id, system, now)))
  readings.sort((a, b) => a.points - b.points)
  const unknown =
    (others === undefined ? UNKNOWN_ALONE : 0) + against([unknownLikeliness(id)], others?.[UNKNOWN] ?? [1])
  return Object.assign(readings, { unknown }) as Readings // the first has parts: any 64 bits are an ID of flake
}

const OWN_FORM = 30 // points

// --- IDs of one input ---

/** What IDs of one input show about the others: the weights of the kinds of each system. */
export type Together = Record<string, number[]>

const UNKNOWN = 'unknown'
const RARE_UNKNOWN = 8 // points
const ROUNDS = 20
const WEIGHT = 3 // IDs: our knowledge of all inputs counts as much as these

/**
 * How probable an ID is as one of a system that is not in our table, compared with one drawn at random. Three kinds are known:
 * small numbers of a sequence; IDs with seconds, whose lowest bits of "ms" are 0; and Snowflakes with an epoch of their own.
 */
function unknownLikeliness(id: bigint) {
  if (id < SEQUENCE) return 2 ** 20
  let zeros = 0
  while (zeros < 16 && ((id >> BigInt(22 + zeros)) & 1n) === 0n) zeros++
  const [node, counter] = [Number((id >> 12n) & 1023n), Number(id & 4095n)]
  return 0.5 * Math.max(1, 2 ** (zeros - 4)) + 0.5 * snowflake(node, counter)
}

const SEQUENCE = 2n ** 32n // no system has generated an ID in its first second

/**
 * How probable it is, in points, that the IDs of an input are of these times. The times of one input are not independent, so
 * they count once: by how much of the probability of all times is in those from the first to the last.
 * @param times with their weights
 */
export function pointsOfTimes(times: [ms: number, weight: number][], system: System, now: number) {
  const sorted = times.filter(([, weight]) => weight > 0).sort(([a], [b]) => a - b)
  if (sorted.length === 0) return 0
  const all = sorted.reduce((sum, [, weight]) => sum + weight, 0)
  const [first, last] = [0.05, 0.95].map((share) => {
    let sum = 0
    const found = sorted.find(([, weight]) => {
      sum += weight
      return sum >= share * all
    })
    return (found ?? sorted[sorted.length - 1])[0]
  })
  const span = Math.max(last - first, HOUR_MS)
  return -Math.log2(Math.min(1, chanceOfMs(last, system, now) * span))
}

/**
 * How much denser the IDs lie in the range that a system can explain than in the whole input: a factor, and only as strong as
 * many IDs make it. The square root, because the range is taken from the same IDs.
 * @param sorted IDs
 */
function density(sorted: number[], isMember: boolean[]) {
  const own = sorted.filter((_, i) => isMember[i])
  const range = (ids: number[]) => ids[ids.length - 1] - ids[0] + 1
  if (own.length < 2) return 1
  return Math.min(Math.max(1, Math.sqrt(range(sorted) / range(own))), 2 ** (own.length / 10))
}

/**
 * The weights of all systems and their kinds among IDs of one input: as everywhere, and as this input shows. They are those
 * that make the IDs most probable (expectation maximisation), so a file may have IDs of several systems. Times count as a whole,
 * in `priorOf`: each ID for itself would count the same evidence again and again.
 */
export function together(ids: IdLike[], now: number = unixNow()): Together | undefined {
  if (ids.length < 2) return
  const sorted = ids.map((id) => toBigInt(id)).sort((a, b) => (a < b ? -1 : 1))
  const numbers = sorted.map(Number)
  const all = sorted.map((id) => judgeAll(id, now))
  const kinds = [...SYSTEMS.map(sharesOf), [1]]
  // How much of each ID is of each system; at first, all that can be.
  let members = SYSTEMS.map((_, i) => all.map((readings) => (isPlausible(readings[i]) ? 1 : 0)))
  const densities = [...members.map((each) => density(numbers, each.map(Boolean))), 1]
  const likely = sorted.map((id, row) => [...all[row].map(likelyKinds), [unknownLikeliness(id)]])
  let shares: number[][] = []
  let weights: number[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const prior = priorOf(kinds, all, members, now)
    if (round === 0) shares = prior
    weights = shares.map((each, i) => each.map((share) => share * densities[i]))
    const sums = prior.map((each) => each.map((share) => share * WEIGHT))
    members = members.map((each) => each.map(() => 0))
    for (const [row, likelyOf] of likely.entries()) {
      const chances = likelyOf.map((each, i) => each.map((likeliness, kind) => likeliness * weights[i][kind]))
      const sum = chances.flat().reduce((a, b) => a + b)
      for (const [i, each] of chances.entries()) {
        for (const [kind, chance] of each.entries()) {
          sums[i][kind] += chance / sum
          if (i < members.length) members[i][row] += chance / sum
        }
      }
    }
    shares = sums.map((each) => each.map((share) => share / (ids.length + WEIGHT)))
  }
  return Object.fromEntries(weights.map((each, i) => [SYSTEMS[i]?.name ?? UNKNOWN, each]))
}

/** How likely an ID is of each kind of its system. */
const likelyKinds = (reading: Reading | NoReading) =>
  isPossible(reading)
    ? reading.kinds.map((likeliness) => likeliness * 2 ** -reading.points)
    : reading.system.habits.kinds.map(() => 0)

/** The shares of the kinds of each system, and of unknown ones, as our knowledge and the times of their IDs suggest. */
function priorOf(kinds: number[][], all: (Reading | NoReading)[][], members: number[][], now: number) {
  const chances = kinds.map((shares, i) => {
    const system: System | undefined = SYSTEMS[i]
    const times = all.flatMap((readings, row): [number, number][] => {
      const reading = readings[i]
      return reading !== undefined && isPossible(reading) ? [[reading.parts.timestamp, members[i][row]]] : []
    })
    const points = system === undefined ? RARE_UNKNOWN : system.habits.rare + pointsOfTimes(times, system, now)
    return shares.map((share) => share * 2 ** -points)
  })
  const sum = chances.flat().reduce((a, b) => a + b)
  return chances.map((each) => each.map((chance) => chance / sum))
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

// Measured on real IDs that nothing was learned from, in files of 2 to 200: at most 1 of 100 lines that were this probable was
// wrong. Of single IDs, some were wrong even at 0.999, so none of them counts as certain.
const SURE = 0.99
const LEAST = 0.005 // less probable systems are not mentioned

/** How probable each of the contenders is, from 0 to 1. The rest is the probability of a system that is not in our table. */
export function shares(could: Reading[], { unknown }: Readings) {
  const chances = could.map(({ points }) => 2 ** (could[0].points - points))
  const all = chances.reduce((sum, chance) => sum + chance, 2 ** (could[0].points - unknown))
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
  const chances = shares(could, readings)
  const unknown = 1 - chances.reduce((sum, chance) => sum + chance, 0)
  const named = could.flatMap(({ name, twins }, i): [string, number][] => {
    const others = Object.entries(twins).map(([twin, part]): [string, number] => [twin, part * chances[i]])
    return [[name, others.reduce((rest, [, part]) => rest - part, chances[i])], ...others]
  })
  const shown = [...named, ['another system', unknown] as [string, number]].filter(
    ([name, chance]) => chance >= LEAST || could.slice(0, 2).some((reading) => reading.name === name),
  )
  const isSure = isAlone ? shown.length === 1 : shown[0][1] >= SURE
  return isSure ? [] : shown.map(([name, chance]) => `${name} ${percent(chance)}`)
}

/** The reasons as text; for an implausible reading only the decisive one. */
export function reasons(reading: Reading | NoReading) {
  const { system, time } = reading
  const when = TIMES[time](system)
  if (!isPossible(reading) || !isPlausible(reading)) return when
  return [when, ...sayCounter(reading.parts, system), ...sayNode(reading.parts, system)].join(', ')
}

/** A reading on one line. */
export function summary(reading: Reading | NoReading, now = unixNow()) {
  const { name, parts } = reading
  const when = parts === undefined ? 'impossible' : `${parts.date.toISOString()}, ${fromNow(parts.timestamp, now)}`
  return `${name.padEnd(16)} ${when}: ${reasons(reading)}`
}
