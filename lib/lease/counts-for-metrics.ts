// This thread's leases and counters, and the results of acquisitions and renewals, for metrics, which read them on
// collection. It keeps no lease, counter or observer alive, and is bounded, since users name the groups.

import { nextTick } from '../base/timers.ts'
import { WeakList } from '../base/weak-list.ts'

export type Result = 'renewed' | 'lost' | 'destroyed' | 'failed'
export type Acquisition = 'granted' | 'exhausted' | 'quiet' | 'destroyed' | 'failed'

/** Receives each renewal after it was added. */
export type Observer = (renewal: { group: string; seconds: number }) => void

/** This many groups have separate counts; later ones are counted together, under OTHER, which no group can be named. */
const MOST = 1000
const OTHER = '{other}'

/** What metrics read of a lease. */
export interface MeasuredLease {
  readonly group: string
  readonly slots: number
  readonly slot: number | undefined
  readonly state: string
  readonly expires: Date | undefined
  readonly isWanted: boolean
  readonly isOnFile: boolean
  readonly isClosed: boolean
}

/** What metrics read of a counter's member: its name, and how many numbers are left of its blocks. */
export interface MeasuredSegment {
  readonly name: string
  readonly left: number
  readonly isClosed: boolean
}

/** those that join() returned */
export const leases: WeakList<MeasuredLease> = new WeakList()
/** those whose join() has no result yet */
export const joining: Set<MeasuredLease> = new Set()
export const segments: WeakList<MeasuredSegment> = new WeakList()
export const observers: WeakList<Observer> = new WeakList()

type Counts<Name extends string> = Map<string, Record<Name, number>>

export const renewals: Counts<Result> = new Map()
export const acquisitions: Counts<Acquisition> = new Map()

const NO_RENEWALS = { renewed: 0, lost: 0, destroyed: 0, failed: 0 }
const NO_ACQUISITIONS = { granted: 0, exhausted: 0, quiet: 0, destroyed: 0, failed: 0 }

/** Adds a result to a group's counts. Returns the name that they have. */
function count<Name extends string>(all: Counts<Name>, none: Record<Name, number>, group: string, result: Name) {
  const name = all.has(group) || all.size < MOST ? group : OTHER
  const counts = all.get(name) ?? { ...none }
  counts[result]++
  all.set(name, counts)
  return name
}

/** A call to the store for a slot has ended. */
export function acquisitionEnded(group: string, result: Acquisition) {
  count(acquisitions, NO_ACQUISITIONS, group, result)
}

/** A renewal has ended. */
export function renewalEnded(group: string, result: Result, seconds: number) {
  const name = count(renewals, NO_RENEWALS, group, result)
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
