// Strays: IDs whose time a system cannot have used: in the future, before there were such IDs, or with bits that are always 0. They
// are usually of another system or another epoch, and a sample of them shows which.

import { type Layout, type LayoutName, layouts, type Parts } from '../../lib/entries/codec.ts'
import { habitsOf } from '../../lib/reading/habits.ts'
import { factsOf } from '../parts/layout-facts.ts'

export type StrayKind = 'future' | 'early' | 'beyond'

const DAY_MS = 86_400_000
const AHEAD_MS = 60_000 // clocks differ
const SMALL = 2n ** 32n // IDs below are of a sequence: no system has generated any in its first second
const SAMPLE = 1000
const MOST = 0.9 // of the sample

/** IDs of one kind. */
export class Strays {
  /** lines */
  count = 0
  sample: bigint[] = []
  /** below SMALL */
  small = 0
  first = Number.POSITIVE_INFINITY
  last = Number.NEGATIVE_INFINITY

  /** An ID that comes `count` times; without a time if it is not of the layout. */
  add(id: bigint, count: number, timestamp?: number) {
    this.count += count
    if (id < SMALL) this.small += count
    if (this.sample.length < SAMPLE) this.sample.push(id)
    if (timestamp === undefined) return
    this.first = Math.min(this.first, timestamp)
    this.last = Math.max(this.last, timestamp)
  }

  /** The systems, or other epochs of this one, that give the IDs a time at which there were IDs of the right ones. */
  likely(layout: Layout, from: number, to: number) {
    const others = Object.values(layouts).filter((other) => other.name !== layout.name || other.epoch !== layout.epoch)
    return others.filter((other) => {
      const fitting = this.sample.filter((id) => isIn(other, id, from - 30 * DAY_MS, to + 30 * DAY_MS))
      return fitting.length >= this.sample.length * MOST
    })
  }
}

/** Whether a layout gives the ID a time in this range. */
function isIn(layout: Layout, id: bigint, from: number, to: number) {
  const parts = decode(layout, id)
  return parts !== undefined && parts.timestamp >= from && parts.timestamp <= to
}

/** The parts of an ID; undefined if it is not of the layout. */
export function decode(layout: Layout, id: bigint): Parts | undefined {
  try {
    return layout.decode(id)
  } catch {
    return undefined
  }
}

/** Decides which IDs are strays. */
export function strayJudge(layout: Layout, now = Date.now()) {
  const { maxAheadMs } = factsOf(layout)
  const latest = now + AHEAD_MS + Math.min(maxAheadMs, DAY_MS)
  const named = layouts[layout.name as LayoutName]
  const since = named?.epoch === layout.epoch ? habitsOf(layout.name).since : undefined
  const earliest = since ?? layout.epoch
  return (id: bigint, { timestamp }: Parts): StrayKind | undefined => {
    if (timestamp > latest) return 'future'
    const isOfSequence = id < SMALL && timestamp < now - 30 * DAY_MS
    return timestamp < earliest || isOfSequence ? 'early' : undefined
  }
}
