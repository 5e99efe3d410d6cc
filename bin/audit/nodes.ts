// What the IDs show about each node: when it generated the first and the last one, how many, the most in a tick, and whether two
// generators used its number.

import type { Parts } from '../../lib/entries/codec.ts'
import { Tracks } from './tracks.ts'

export const MOST_NODES = 65_536 // as many as the widest node field of a named system has
const FEWEST_COUNTERS = 255

export class NodeFacts {
  node
  /** lines with its IDs */
  ids = 0
  first = Number.NaN
  last = Number.NaN
  mostInTick = 0
  mostAt = Number.NaN
  /** lines with an ID of another line */
  repeated = 0

  #tick: bigint | undefined
  #counters: number[] = []
  #tracks

  constructor(node: number, counterMax: number) {
    this.node = node
    this.#tracks = counterMax >= FEWEST_COUNTERS ? new Tracks(counterMax) : undefined
  }

  /** An ID that differs from all others, in the order of ticks and counters. */
  add({ tick, counter, timestamp }: Parts) {
    this.ids++
    if (this.#tick !== tick) {
      if (this.#tick === undefined) this.first = timestamp
      this.close()
      this.#tick = tick
    }
    this.#counters.push(counter)
    this.last = timestamp
  }

  /** The current tick is complete. */
  close() {
    const count = this.#counters.length
    if (count === 0) return
    if (count > this.mostInTick) [this.mostInTick, this.mostAt] = [count, this.last]
    this.#tracks?.add(this.#counters)
    this.#counters.length = 0
  }

  /** How often its counters go back and forth between two tracks. */
  get turns() {
    return this.#tracks?.turns ?? 0
  }
}

/** All nodes by number. A table read with the wrong layout can have a node for each ID: the ones beyond the limit are counted. */
export class Nodes {
  #known: Map<number, NodeFacts> = new Map()
  #counterMax
  /** IDs of nodes beyond the limit */
  leftOut = 0

  constructor(counterMax: number) {
    this.#counterMax = counterMax
  }

  /** An ID that differs from all others, in the order of ticks and counters. */
  add(parts: Parts) {
    this.#of(parts.id)?.add(parts)
  }

  /** Another line with an ID that is or will be added. */
  repeat({ id }: Parts) {
    const facts = this.#of(id)
    if (facts === undefined) return
    facts.ids++
    facts.repeated++
  }

  #of(node: number) {
    let facts = this.#known.get(node)
    if (facts === undefined && this.#known.size < MOST_NODES) {
      facts = new NodeFacts(node, this.#counterMax)
      this.#known.set(node, facts)
    }
    if (facts === undefined) this.leftOut++
    return facts
  }

  /** Those with the most IDs first. */
  list() {
    const all = [...this.#known.values()]
    for (const facts of all) facts.close()
    return all.sort((a, b) => b.ids - a.ids || a.node - b.node)
  }
}
