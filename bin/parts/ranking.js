'use strict'

// Guesses which system an ID is from. The bits of one system also give a time and a node in another, so each reading
// gets points for what is odd about it: roughly log2 of how rarely that happens. The fewest points win. It must never
// hide a reading: all are listed, each with its reasons.

const { layouts, toBigInt } = require('../../index.js')
const { fromNow } = require('./dates.js')

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const AHEAD_MS = 60_000 // clocks differ, and some systems run ahead

const SIGNED_MAX = 2n ** 63n - 1n
const NAMES = Object.keys(layouts)

const IMPOSSIBLE = 1000
const FUTURE = 60
const TOO_EARLY = 40
const NEAR_EPOCH = 15
const COUNTER_MOST = 8 // bursts happen

/** What we know about a system besides its layout. `rare`: points because it is used less, or fits too many IDs. */
const KNOWN = {
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
}

/** The points for a time, and its kind. */
function judgeTime(ms, { epoch }, { since = epoch }, now) {
  if (ms > now + AHEAD_MS) return [FUTURE, 'future']
  if (ms < since) return [TOO_EARLY, 'early']
  const age = Math.max(0, now - ms)
  const points = Math.log2(1 + age / HOUR_MS)
  if (ms - epoch < 30 * DAY_MS && age > HOUR_MS) return [NEAR_EPOCH + points, 'near']
  return [points, age < DAY_MS ? 'fresh' : 'usual']
}

/** Epochs as text, made once: with a million lines it would be a third of the time. */
const days = Object.fromEntries(NAMES.map((name) => [name, new Date(layouts[name].epoch).toISOString().slice(0, 10)]))

/** What to say about a time of each kind. */
const TIMES = {
  zero: () => 'its top bit is always 0, and here it is 1',
  none: () => 'it makes no such ID',
  far: () => 'its time is beyond what a Date can hold',
  future: () => 'it would be in the future',
  early: () => 'there were no such IDs then',
  near: (name) => `suspiciously close to the epoch ${days[name]}`,
  fresh: () => 'the time is that of a fresh ID',
  usual: (name) => `the time is between the epoch ${days[name]} and now`,
}

/** Most counters start at 0 in each tick. Some count on, so they are seldom 0. chronicle has none. */
function judgeCounter(counter, layout, { countsOn }) {
  if (layout.fields.length === 0) return 0
  if (countsOn) return counter === 0 ? COUNTER_MOST : 0
  return Math.min(COUNTER_MOST, 3 * counter)
}

function sayCounter(counter, layout, { countsOn }) {
  if (layout.fields.length === 0) return []
  if (countsOn && counter === 0) return ['its counter counts on, so 0 is rare']
  if (countsOn || counter === 0) return [`counter ${counter} is usual`]
  return [`counter ${counter} needs ${counter + 1} IDs in one tick`]
}

const judgeNode = (id) => Math.log2(1 + id) / 2
const sayNode = (id) => (id > 255 ? [`node number ${id} is large`] : [])

/** The parts of an ID, or undefined if it is not one of the layout: in chronicle, the last few below 2^64. */
function decode(id, layout) {
  try {
    return layout.decode(id)
  } catch {
    return undefined
  }
}

/** One system's reading of an ID: its points, and the parts unless there are none. */
function judge(id, name, now) {
  const layout = layouts[name]
  // decode would throw, but an error costs more than all readings together.
  if (layout.fields[0]?.[0] === 'zero' && id > SIGNED_MAX) return { name, layout, points: IMPOSSIBLE, time: 'zero' }
  const parts = decode(id, layout)
  if (parts === undefined) return { name, layout, points: IMPOSSIBLE, time: 'none' }
  if (Number.isNaN(parts.date.getTime())) return { name, layout, points: IMPOSSIBLE, time: 'far' }
  const known = KNOWN[name]
  const [timePoints, time] = judgeTime(parts.timestamp, layout, known, now)
  const points = known.rare + timePoints + judgeCounter(parts.counter, layout, known) + judgeNode(parts.id)
  return { name, layout, parts, points, time }
}

/** All systems' readings, the most plausible first. */
function rank(given, now = Date.now()) {
  const id = toBigInt(given)
  return NAMES.map((name) => judge(id, name, now)).sort((a, b) => a.points - b.points)
}

/** A reading with nothing against it except that its system is rare. */
const isPlausible = ({ points }) => points < TOO_EARLY

/**
 * The readings that could be meant, out of all, which are sorted best first: the others are 2^16 times as rare as the
 * best.
 */
function contenders(readings) {
  const bar = Math.min(TOO_EARLY, readings[0].points + 16)
  const could = readings.filter(({ points }) => points < bar)
  return could.length > 0 ? could : readings.slice(0, 1)
}

/** The reasons in words; for an implausible reading only the one that matters. */
function reasons(reading) {
  const { name, layout, parts, time } = reading
  const when = TIMES[time](name)
  if (!isPlausible(reading)) return when
  return [when, ...sayCounter(parts.counter, layout, KNOWN[name]), ...sayNode(parts.id)].join(', ')
}

/** A reading on one line. */
function summary(reading, now = Date.now()) {
  const { name, parts } = reading
  const when = parts === undefined ? 'impossible' : `${parts.date.toISOString()}, ${fromNow(parts.timestamp, now)}`
  return `${name.padEnd(16)} ${when}: ${reasons(reading)}`
}

module.exports = { rank, contenders, reasons, summary }
