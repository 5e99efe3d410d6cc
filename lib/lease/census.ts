// What this thread has of leases and counters, and how renewals went: for metrics, which ask when they are collected.
//
// It must never keep a lease, a counter or an observer alive, nor grow without bound: groups get their names from users.

import { nextTick } from '../base/timers.ts'
import { WeakList } from '../base/weak-list.ts'
import type { Holder } from './holder.ts'
import type { BlockSupply } from './segment/block-supply.ts'

export type Result = 'renewed' | 'lost' | 'destroyed' | 'failed'

/** Gets each renewal from when it was added on. */
export type Observer = (renewal: { group: string; seconds: number }) => void

/** So many groups have counts of their own; later ones are counted together, under OTHER. No group has such a name. */
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
        throw error // a monitoring library's: not the lease's problem, but not to be hidden either
      })
    }
  }
}
