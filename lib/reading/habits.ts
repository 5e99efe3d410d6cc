// What is known of each system's IDs: since when they exist, and how probable their nodes and counters are in which years.
// Learned from real IDs with known dates, half of those in __test__/vectors/real-ids.json and public-ids.json (a test there
// says which half), and from the systems' own sources, which are cited here.

import type { Parts } from '../codec/parts.ts'

/** The probability of a value of one field. */
export type Spread = (value: number) => number

/** The fields that a kind of IDs says something about, as `Parts` names them. `id` is all node fields in one number. */
type Spreads = Partial<Record<string, Spread>>

/** IDs of a system that are alike: of its users, say, or of a cluster whose nodes are numbered. */
export interface Kind {
  /** another system that has the same layout */
  of?: string
  /** of all IDs of the system, while nothing is known of the others in the same file */
  share: number
  /** from the first period to the last: until when (Unix ms), and the spreads until then */
  periods: [until: number, spreads: Spreads][]
}

export interface Habits {
  /** points: how rarely users ask about an ID of this system */
  rare: number
  /** Unix ms before which there were no such IDs; default: the epoch */
  since?: number
  /** counters that continue from tick to tick, instead of starting at 0, are usual */
  continues?: boolean
  kinds: Kind[]
}

// --- spreads ---

/** Each value below `size` is as probable as any other. */
const any =
  (size: number): Spread =>
  (value) =>
    value < size ? 1 / size : 0

/** Half as often with each step: counters that start at 0 in each tick, where few ticks have many IDs. */
const halving: Spread = (value) => 0.5 ** (value + 1)

/** Half as often at twice the value: numbers that are given out from 0 on. */
const harmonic =
  (size: number): Spread =>
  (value) =>
    1 / ((value + 1) * (Math.log(size) + 0.58))

/** The probabilities of the values 0, 1, 2 …; the others have none. */
const listed =
  (...chances: number[]): Spread =>
  (value) =>
    chances[value] ?? 0

/** The probabilities of some values; the others have none. */
const some =
  (chances: Record<number, number>): Spread =>
  (value) =>
    chances[value] ?? 0

/** Several spreads, each with its share. */
const mixed =
  (...all: [share: number, Spread][]): Spread =>
  (value) =>
    all.reduce((sum, [share, spread]) => sum + share * spread(value), 0)

const ALWAYS = Number.POSITIVE_INFINITY
const until = (...date: [year: number, month: number, day?: number]) => Date.UTC(date[0], date[1] - 1, date[2] ?? 1)
const always = (share: number, spreads: Spreads): Kind => ({ share, periods: [[ALWAYS, spreads]] })

// --- systems that run anywhere ---

/** Counters start at 0 in each tick. Nodes are numbered from 0 on, or derived from an address. */
const usual = (nodes: number): Kind[] => [
  always(0.5, { id: harmonic(nodes), counter: halving }),
  always(0.5, { id: any(nodes), counter: halving }),
]

/** LinkedIn's posts have the same layout, by their dates; these are their nodes. Nothing about them is documented. */
const OF_FLAKE: Kind[] = [
  ...usual(1024),
  { ...always(0.3, { id: (node) => (node >= 96 && node < 160 ? 1 / 64 : 0), counter: halving }), of: 'LinkedIn' },
]

/** A client takes 100 IDs at once, and the counter continues from one to the next: FlakeIdGeneratorProxy.newIdBatch(). */
const OF_HAZELCAST = [...usual(65_536), always(0.5, { id: harmonic(65_536), counter: any(64) })]

/** A TsidFactory starts each ms at a random counter. A node that nobody configured is random too: TsidFactory.Builder. */
const OF_TSID = [
  always(0.4, { id: harmonic(1024), counter: any(4096) }),
  always(0.6, { id: any(1024), counter: any(4096) }),
]

/** The machine is half of an address, or configured. */
const OF_SONYFLAKE = [
  always(0.9, { id: any(65_536), counter: halving }),
  always(0.1, { id: harmonic(65_536), counter: halving }),
]

/** Chances of a time, compared with one at any moment of a ms: of clocks of whole ms, and of finer ones. */
const wholeMs =
  (whole: number, other: number): Spread =>
  (ms) =>
    ms % 1 < 0.0002 ? whole : other

/** Plain clocks have the same digits: the last two are then of the time. */
const ofChronicle = (clock: string, ticksPerMs: number): Kind[] => [
  always(0.4, { id: harmonic(100) }),
  always(0.1, { id: harmonic(100), timestamp: wholeMs(0.9 * ticksPerMs, 0.1) }),
  always(0.25, { id: any(100) }),
  { ...always(0.25, { id: any(100) }), of: clock },
]

// --- services ---

/** Libraries that keep Twitter's epoch, with nodes of a user's own: bwmarrin/snowflake, MyBatis-Plus and others. */
const SINCE_COPIES: Kind['periods'][0] = [until(2016, 1), { id: () => 0 }]

/**
 * The datacenters of tweets: 1, and 4 from the end of 2013, until 7 February 2015; 10 and 11 from 19 February 2015 on; 13 from
 * the end of 2021 on. Counters were mostly 0 until 2023; since August 2023 they are any below 512.
 */
const OF_TWITTER: Kind[] = [
  ...usual(1024).map(({ share, periods }) => ({ share: 0.15 * share, periods: [SINCE_COPIES, ...periods] })),
  {
    share: 0.85,
    periods: [
      [
        until(2011, 3),
        { datacenter: some({ 0: 0.6, 1: 0.35, 4: 0.05 }), worker: any(8), counter: mixed([0.9, halving]) },
      ],
      [
        until(2013, 10),
        {
          datacenter: some({ 0: 0.04, 1: 0.92, 4: 0.04 }),
          worker: any(8),
          counter: listed(0.78, 0.15, 0.05, 0.01, 0.005),
        },
      ],
      [
        until(2015, 2, 13),
        {
          datacenter: some({ 0: 0.02, 1: 0.52, 4: 0.46 }),
          worker: any(8),
          counter: listed(0.78, 0.15, 0.05, 0.01, 0.005),
        },
      ],
      [
        until(2021, 12),
        {
          datacenter: some({ 10: 0.48, 11: 0.48, 12: 0.01, 13: 0.02 }),
          worker: mixed([0.9, any(32)], [0.1, any(8)]),
          counter: mixed([0.9, listed(0.55, 0.23, 0.1, 0.06, 0.03, 0.02)], [0.1, any(16)]),
        },
      ],
      [
        until(2023, 8),
        {
          datacenter: some({ 10: 0.18, 11: 0.32, 12: 0.01, 13: 0.48 }),
          worker: any(32),
          counter: mixed([0.75, listed(0.45, 0.28, 0.14, 0.06, 0.03, 0.02)], [0.15, any(16)], [0.1, any(512)]),
        },
      ],
      [
        ALWAYS,
        {
          datacenter: mixed([0.94, some({ 10: 0.04, 11: 0.48, 13: 0.48 })], [0.06, any(32)]),
          worker: any(32),
          counter: mixed([0.9, any(500)], [0.1, halving]),
        },
      ],
    ],
  },
]

/**
 * The counters of Discord are multiples of ten, and the one, two, three … after them ever more rarely.
 * @param ratio between the probabilities of one multiple of ten and the next
 */
const inTens = (ratio: number): Spread => {
  const ones = [0.5, 0.22, 0.06, 0.04, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03]
  return (value) => (1 - ratio) * ratio ** Math.floor(value / 10) * ones[value % 10]
}

const DISCORD_WORKERS = mixed([0.97, any(3)], [0.03, any(32)])
const MANY_WORKERS = mixed([0.4, any(3)], [0.57, any(10)], [0.03, any(32)])
const DISCORD_PROCESSES = mixed([0.96, listed(0.5, 0.22, 0.11, 0.09, 0.03, 0.02, 0.02, 0.01)], [0.04, any(16)])
const ONE_PROCESS = mixed([0.985, listed(1)], [0.015, any(16)])
/** In 2015 nothing was settled yet. */
const FIRST_YEAR = mixed([0.7, any(8)], [0.3, any(32)])

/**
 * Users, applications and servers mostly have the counter 0 in the first years; channels, messages and attachments come in
 * greater numbers. Workers above 2 were in use from July 2020 to July 2021, and processes other than 0 in 2015 and since then.
 */
const OF_DISCORD: Kind[] = [
  // Libraries that keep Discord's epoch, such as @sapphire/snowflake, whose counter continues from tick to tick.
  {
    share: 0.05,
    periods: [
      [until(2019, 1), { id: () => 0 }],
      [ALWAYS, { id: harmonic(1024), counter: any(4096) }],
    ],
  },
  {
    share: 0.475,
    periods: [
      [
        until(2015, 10),
        {
          worker: mixed([0.7, listed(1)], [0.3, any(32)]),
          process: FIRST_YEAR,
          counter: mixed([0.7, inTens(0.05)], [0.3, any(4096)]),
        },
      ],
      [
        until(2015, 12),
        { worker: DISCORD_WORKERS, process: mixed([0.5, listed(1)], [0.5, any(8)]), counter: inTens(0.05) },
      ],
      [
        until(2018, 1),
        { worker: DISCORD_WORKERS, process: ONE_PROCESS, counter: mixed([0.6, listed(1)], [0.4, inTens(0.3)]) },
      ],
      [
        until(2020, 7),
        { worker: DISCORD_WORKERS, process: ONE_PROCESS, counter: mixed([0.25, listed(1)], [0.75, inTens(0.55)]) },
      ],
      [
        until(2021, 8),
        { worker: MANY_WORKERS, process: ONE_PROCESS, counter: mixed([0.1, listed(1)], [0.9, inTens(0.75)]) },
      ],
      [ALWAYS, { worker: DISCORD_WORKERS, process: DISCORD_PROCESSES, counter: inTens(0.87) }],
    ],
  },
  {
    share: 0.475,
    periods: [
      [until(2015, 12), { worker: DISCORD_WORKERS, process: FIRST_YEAR, counter: inTens(0.3) }],
      [until(2018, 1), { worker: DISCORD_WORKERS, process: ONE_PROCESS, counter: inTens(0.5) }],
      [until(2020, 7), { worker: DISCORD_WORKERS, process: ONE_PROCESS, counter: inTens(0.75) }],
      [
        until(2021, 8),
        { worker: MANY_WORKERS, process: ONE_PROCESS, counter: mixed([0.7, inTens(0.85)], [0.3, any(200)]) },
      ],
      [
        ALWAYS,
        { worker: DISCORD_WORKERS, process: DISCORD_PROCESSES, counter: mixed([0.7, inTens(0.9)], [0.3, any(200)]) },
      ],
    ],
  },
]

/** The shard follows from the user, and the counter continues: both are as good as random. */
const OF_INSTAGRAM = [always(1, { shard: any(8192), counter: any(1024) })]

/** The table's sequence, from a start that follows from the ms: as good as random. */
const OF_MASTODON = [always(1, { counter: any(65_536) })]

/** Most clients have a clock of whole ms, and one of 32 clock IDs (@atproto/common-web, tid.ts). */
const OF_TID = [always(0.9, { clockid: any(32), timestamp: wholeMs(100, 0.9) }), always(0.1, { clockid: any(1024) })]

/** Every system's deviations from what is usual. */
const HABITS: Record<string, Habits> = {
  flake: { rare: 3, since: until(2012, 1), kinds: OF_FLAKE },
  hazelcast: { continues: true, rare: 5, since: until(2018, 1), kinds: OF_HAZELCAST },
  snowcast: { rare: 5, kinds: usual(8192) },
  uniqueid: { rare: 8, since: until(2012, 1), kinds: usual(32_768) }, // any bits give it a time, because it has two bit orders
  chronicle: { rare: 4, since: until(2015, 1), kinds: ofChronicle('Unix ns', 10_000) },
  'chronicle-micros': { rare: 4, since: until(2015, 1), kinds: ofChronicle('Unix µs', 10) },
  twitter: { rare: 1.5, kinds: OF_TWITTER },
  discord: { continues: true, rare: 1.5, kinds: OF_DISCORD },
  instagram: { continues: true, rare: 3, kinds: OF_INSTAGRAM },
  sonyflake: { rare: 4, since: until(2015, 6), kinds: OF_SONYFLAKE }, // published in 2015
  sonyflake2: { rare: 4, kinds: OF_SONYFLAKE },
  tsid: { continues: true, rare: 4, kinds: OF_TSID },
  mastodon: { continues: true, rare: 3, since: until(2017, 10), kinds: OF_MASTODON }, // release 2.0
  tid: { rare: 12, since: until(2022, 4), kinds: OF_TID }, // people copy its text, not the number
  safe: { rare: 4, kinds: usual(64) },
}

/** The habits of a named layout, or what is usual for one with this many nodes. */
export const habitsOf = (name: string, nodes = 1024): Habits => HABITS[name] ?? { rare: 0, kinds: usual(nodes) }

/** Of the IDs of each kind: those that are as if drawn at random, because no knowledge is complete. */
const STRAY = 0.03

const spreadsAt = ({ periods }: Kind, timestamp: number) =>
  (periods.find(([end]) => timestamp < end) as Kind['periods'][0])[1]

/**
 * How much more probable the values of these fields are in a kind than at random.
 * @param sizes how many values each field of the layout can have
 */
export function likeliness(kind: Kind, parts: Parts, sizes: Record<string, number>, isOf?: (field: string) => boolean) {
  const spreads = spreadsAt(kind, parts.timestamp)
  let product = 1
  for (const field in spreads) {
    if (isOf !== undefined && !isOf(field)) continue
    const value = parts[field as 'counter']
    product *= (spreads[field] as Spread)(value) * (sizes[field] ?? 1)
  }
  return (1 - STRAY) * product + STRAY
}

/** How much more probable node and counter are in a Snowflake with few nodes than at random. */
export const snowflake = (node: number, counter: number) => harmonic(1024)(node) * 1024 * halving(counter) * 4096
