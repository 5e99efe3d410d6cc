// Refuses IDs that a client received before. Every request carries a nonce, so a cache that repeats an answer is detected at
// once; this detects an intermediary that puts the right nonce on the wrong answer.
//
// IDs of one slot ascend from answer to answer, so its last ID is enough. Segments name no slot, and some layouts have no
// order: for those, the most recent IDs are remembered.

import type { Answer } from './request.ts'

/** How many slots are remembered: those that answered last. */
const MOST_SLOTS = 1000
/** How many IDs without an order are remembered: at least the last six answers. */
const MOST_IDS = 65_536

export class Repeats {
  #lasts: Map<string, bigint> = new Map() // by group and slot, the least recently used first
  #recent: Set<bigint> = new Set() // the oldest first

  /** An ID of the answer that was received before, or may have been; undefined if all are new, which are then remembered. */
  find(answer: Answer) {
    const { group, slot, isOrdered, ids } = answer
    if (ids.length === 0) return undefined
    return isOrdered && group !== null && slot !== null ? this.#notAfter(`${group} ${slot}`, ids) : this.#known(ids)
  }

  #notAfter(key: string, ids: Uint8Array) {
    const view = new DataView(ids.buffer, ids.byteOffset, ids.length)
    const first = view.getBigUint64(0)
    const last = this.#lasts.get(key)
    if (last !== undefined && first <= last) return first
    this.#lasts.delete(key)
    this.#lasts.set(key, view.getBigUint64(ids.length - 8))
    dropOldest(this.#lasts, MOST_SLOTS)
  }

  #known(ids: Uint8Array) {
    const view = new DataView(ids.buffer, ids.byteOffset, ids.length)
    for (let at = 0; at < ids.length; at += 8) if (this.#recent.has(view.getBigUint64(at))) return view.getBigUint64(at)
    for (let at = 0; at < ids.length; at += 8) this.#recent.add(view.getBigUint64(at))
    dropOldest(this.#recent, MOST_IDS)
  }
}

function dropOldest<K>(all: Map<K, unknown> | Set<K>, most: number) {
  for (const key of all.keys()) {
    if (all.size <= most) return
    all.delete(key)
  }
}
