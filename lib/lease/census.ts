// This thread's leases and counters, and the results of renewals, for metrics, which read them on collection. It keeps no
// lease, counter or observer alive, and is bounded, since users name the groups.

import { nextTick } from '../base/timers.ts'
import { WeakList } from '../base/weak-list.ts'
import type { Holder } from './holder.ts'
import type { BlockSupply } from './segment/block-supply.ts'

export type Result = 'renewed' | 'lost' | 'destroyed' | 'failed'

/** Receives each renewal after it was added. */
export type Observer = (renewal: { group: string; seconds: number }) => void

/** This many groups have separate counts; later ones are counted together, under OTHER, which no group can be named. */
const MOST = 1000
const OTHER = '{other}'

/** those that join() returned */
export const leases: WeakList<Holder> = new WeakList()
export const segments: WeakList<BlockSupply> = new WeakList()
export const observers: WeakList<Observer> = new WeakList()
export const renewals: Map<string, Record<Result, number>> = new Map()

function countsOf(group: string) {
  const name = renewals.has(group) || renewals.size < MOST ? group : OTHER
  const counts = renewals.get(name) ?? { renewed: 0, lost: 0, destroyed: 0, failed: 0 }
  renewals.set(name, counts)
  return { name, counts }
}

/** A renewal has ended. */
export function renewalEnded(group: string, result: Result, seconds: number) {
  const { name, counts } = countsOf(group)
  counts[result]++
  for (const observe of observers.living) {
    try {
      observe({ group: name, seconds })
    } catch (error) {
      nextTick(() => {
        throw error // a monitoring library's error does not concern the lease, but must not be hidden either
      })
    }
  }
}
