// Walks over all IDs in the order of time, once: equal ones are then next to each other, and the counters of a node's tick
// are ascending.

import { HIGH, LOW } from '../../lib/codec/ids.ts'
import { factsOf } from '../../lib/codec/layout.ts'
import { Layout, type Parts, type PartsToEncode, toBigInt } from '../../lib/entries/codec.ts'
import { EqualIds } from './equal.ts'
import type { IdList } from './id-list.ts'
import { LostDigits } from './lost-digits.ts'
import { Nodes } from './nodes.ts'
import { decode, Strays, strayJudge } from './strays.ts'

const YEAR_MS = 365.2425 * 86_400_000

/** A time of more than a year without IDs. */
export interface Gap {
  from: number
  to: number
  /** different IDs before it */
  before: number
}

/** The same fields with the time first, for layouts whose IDs do not sort by time, such as uniqueid's reversed ones. */
function ordered({ epoch, tickMs, fields }: Layout) {
  const bitsOf = (isMeant: (name: string) => boolean) =>
    fields.reduce((sum, [name, bits]) => sum + (isMeant(name) ? bits : 0), 0)
  const time = bitsOf((name) => name === 'timestamp')
  const counter = bitsOf((name) => name === 'counter')
  const node = bitsOf((name) => !['timestamp', 'counter', 'zero', 'mode'].includes(name))
  const rows: [string, number][] = [
    ['zero', 64 - time - counter - node],
    ['timestamp', time],
    ['node', node],
    ['counter', counter],
  ]
  return new Layout({ epoch, tickMs, fields: rows.filter(([, bits]) => bits > 0) })
}

const hasOrder = (layout: Layout) =>
  factsOf(layout).packing.isTimeOrdered && !layout.fields.some(([name]) => name === 'mode')

/** IDs that all differ, as those of `ordered`, sorted: `take` says which. */
function sortedTwins(
  sorted: BigUint64Array,
  layout: Layout,
  twin: Layout,
  take: (id: bigint, parts: Parts) => boolean,
) {
  const ids = new BigUint64Array(sorted.length)
  let count = 0
  for (let at = 0; at < sorted.length; at++) {
    if (at > 0 && sorted[at] === sorted[at - 1]) continue
    const parts = decode(layout, sorted[at])
    if (parts === undefined || !take(sorted[at], parts)) continue
    const { tick, counter, id } = parts
    ids[count++] = toBigInt(twin.encode({ tick, counter, id } as PartsToEncode))
  }
  return ids.subarray(0, count).sort()
}

export class Walk {
  distinct = 0
  equal = new EqualIds()
  /** different IDs that are no strays, and the times of the first and the last one */
  usual = 0
  first = Number.POSITIVE_INFINITY
  last = Number.NEGATIVE_INFINITY
  /** the longest time of more than a year without IDs */
  gap: Gap | undefined
  /** lines whose ID has the highest bit set: it is negative in a signed column */
  negative = 0
  strays = { future: new Strays(), early: new Strays(), beyond: new Strays() }
  nodes
  lost

  #layout
  #judge
  #isOrdered

  constructor(layout: Layout) {
    this.#layout = layout
    this.#judge = strayJudge(layout)
    this.#isOrdered = hasOrder(layout)
    this.nodes = new Nodes(factsOf(layout).packing.counterMax)
    this.lost = new LostDigits(layout)
  }

  over(list: IdList) {
    const sorted = list.sorted()
    const halves = new Uint32Array(sorted.buffer)
    for (let at = 0; at < sorted.length; ) {
      let end = at + 1
      while (end < sorted.length && sorted[end] === sorted[at]) end++
      this.#add(sorted[at], end - at, halves[2 * at + HIGH], halves[2 * at + LOW])
      at = end
    }
    if (!this.#isOrdered) this.#addInOrder(sorted)
    this.equal.findLines(list)
    return this
  }

  /** An ID that comes `count` times, and the halves of its bits. */
  #add(id: bigint, count: number, high: number, low: number) {
    this.distinct++
    if (count > 1) this.equal.add(id, count)
    if (high >>> 31 === 1) this.negative += count
    const parts = decode(this.#layout, id)
    const stray = parts === undefined ? 'beyond' : this.#judge(id, parts)
    if (parts !== undefined) this.lost.add(high, low, parts.counter, parts.id)
    if (stray !== undefined) this.strays[stray].add(id, count, parts?.timestamp)
    if (parts === undefined || stray !== undefined) return
    if (this.#isOrdered) this.#addUsual(parts)
    for (let more = 1; more < count; more++) this.nodes.repeat(parts)
  }

  #addInOrder(sorted: BigUint64Array) {
    const twin = ordered(this.#layout)
    const isUsual = (id: bigint, parts: Parts) => this.#judge(id, parts) === undefined
    for (const id of sortedTwins(sorted, this.#layout, twin, isUsual)) this.#addUsual(twin.decode(id))
  }

  #addUsual(parts: Parts) {
    const { timestamp } = parts
    this.nodes.add(parts)
    if (timestamp - this.last > Math.max(YEAR_MS, this.gap === undefined ? 0 : this.gap.to - this.gap.from))
      this.#addGap(timestamp)
    this.usual++
    this.first = Math.min(this.first, timestamp)
    this.last = timestamp
  }

  /** The time from the last ID to this one is the longest. */
  #addGap(to: number) {
    if (this.usual > 0) this.gap = { from: this.last, to, before: this.usual }
  }
}
