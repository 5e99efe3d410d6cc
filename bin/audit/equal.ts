// Equal IDs, and the lines they come from. The number of those kept in memory is limited; all are counted.

import type { IdList } from './id-list.ts'

const MOST_IDS = 1000
const MOST_LINES = 100 // of each

export interface Equal {
  id: bigint
  /** how often it comes */
  count: number
  /** the first of its lines */
  lines: number[]
}

export class EqualIds {
  /** the first ones, the smallest ID first */
  kept: Equal[] = []
  /** different IDs that come more than once */
  ids = 0
  /** lines with any of them */
  lines = 0

  /** An ID that comes `count` times. */
  add(id: bigint, count: number) {
    this.ids++
    this.lines += count
    if (this.kept.length < MOST_IDS) this.kept.push({ id, count, lines: [] })
  }

  /** Finds the lines of the kept IDs. */
  findLines(ids: IdList) {
    if (this.kept.length === 0) return
    const wanted = new Map(this.kept.map((equal) => [equal.id, equal]))
    for (let at = 0; at < ids.length; at++) {
      const equal = wanted.get(ids.id(at))
      if (equal !== undefined && equal.lines.length < MOST_LINES) equal.lines.push(ids.line(at))
    }
  }
}
