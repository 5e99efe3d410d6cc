// How probable counters and nodes are in each system. Learned from IDs of Twitter and Discord in public source files
// (__test__/vectors/public-ids.json), and from how the other systems choose them. It uses nothing of Node: the page uses it
// too.

import type { Parts } from '../../lib/entries/codec.ts'

export interface Habits {
  /** points: how rarely users ask about an ID of this system */
  rare: number
  /** Unix ms before which there were no such IDs; default: the epoch */
  since?: number
  /** the probability of a counter */
  counter: (counter: number, max: number) => number
  /** the probability of the node fields */
  node: (parts: Parts, max: number) => number
}

const evenly = (max: number) => 1 / (max + 1)

/** Half as often with each step. */
const halving = (value: number, max: number) => 0.9 * 0.5 ** (value + 1) + 0.1 * evenly(max)

/** Half as often at twice the value, as for numbers that are assigned from 0 on. */
const harmonic = (value: number, max: number) => 1 / ((value + 1) * (Math.log(max + 1) + 0.58))

/** Counters start at 0 in each tick, and few ticks have many IDs. Nodes are numbered from 0 on, or derived from an address. */
export const USUAL: Habits = {
  rare: 0,
  counter: halving,
  node: ({ id }, max) => 0.5 * harmonic(id, max) + 0.5 * evenly(max),
}

/** @param share of all IDs that have a usual value; the others have any of 32 */
const among32 = (share: number, chance: number) => share * chance + (1 - share) / 32

/** All IDs after 2012 were of the first three, and earlier ones of the others. */
const DATACENTERS = [10, 11, 13]
const FIRST_DATACENTERS = [0, 1]
const MOVED = Date.UTC(2013, 0)

/** Four of ten are 0; the others are spread up to 500, the small ones more often. */
const ofTwitter: Pick<Habits, 'counter' | 'node'> = {
  counter: (counter, max) => (counter === 0 ? 0.3 : 0) + 0.7 * harmonic(counter, max),
  node: ({ timestamp, datacenter = 0 }) => {
    const usual = timestamp < MOVED ? FIRST_DATACENTERS : DATACENTERS
    return among32(timestamp < MOVED ? 0.5 : 0.9, usual.includes(datacenter) ? 1 / usual.length : 0) / 32
  },
}

/** Counters continue from tick to tick: up to 150, 40 on average. Few workers and processes, the first ones more often. */
const ofDiscord: Pick<Habits, 'counter' | 'node'> = {
  counter: (counter, max) => 0.9 * (Math.exp(-counter / 45) / 45.5) + 0.1 * evenly(max),
  node: ({ worker = 0, process = 0 }) => among32(0.95, 0.3 * 0.7 ** worker) * among32(0.95, 0.4 * 0.6 ** process),
}

/** The shard follows from the user, and the counter continues: both are as good as random. */
const ofInstagram: Pick<Habits, 'counter' | 'node'> = {
  counter: (_, max) => evenly(max),
  node: (_, max) => evenly(max),
}

/** The table's sequence, from a start that follows from the ms: as good as random. */
const ofMastodon = { counter: (_: number, max: number) => evenly(max), node: () => 1 }

/** Every system's deviations from what is usual. */
const HABITS: Partial<Record<string, Partial<Habits>>> = {
  flake: { rare: 3, since: Date.UTC(2012, 0) },
  hazelcast: { rare: 5 },
  snowcast: { rare: 5 },
  uniqueid: { rare: 6, since: Date.UTC(2012, 0) }, // any bits give it a time, because it has two bit orders
  chronicle: { since: Date.UTC(2015, 0) },
  'chronicle-micros': { since: Date.UTC(2015, 0) },
  twitter: { ...ofTwitter, rare: 1.5 },
  discord: { ...ofDiscord, rare: 1.5 },
  instagram: { ...ofInstagram, rare: 3 },
  sonyflake: { rare: 3, node: (_, max) => evenly(max) }, // half of an address
  mastodon: { ...ofMastodon, since: Date.UTC(2017, 9) }, // release 2.0
  tid: { rare: 20, since: Date.UTC(2022, 3), node: (_, max) => evenly(max) }, // people copy its text, not the number
}

/** The habits of a named layout. */
export const habitsOf = (name: string): Habits => ({ ...USUAL, rare: 4, ...HABITS[name] })
