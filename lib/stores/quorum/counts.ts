// The lists of stores of this thread, and what happened to them, for metrics, which read them on collection.

import { WeakList } from '../../base/weak-list.ts'

/** What metrics read of a list. */
export interface MeasuredQuorum {
  readonly stores: readonly { readonly label: string; readonly isAway: boolean }[]
  readonly isClosed: boolean
}

export const quorums: WeakList<MeasuredQuorum> = new WeakList()

/** How often each note of core/src/lease/quorum came: rounds that were repeated, stores that were filled. */
export const notes: Map<string, number> = new Map()

export function note(what: string) {
  notes.set(what, (notes.get(what) ?? 0) + 1)
}
