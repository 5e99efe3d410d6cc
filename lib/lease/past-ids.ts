// IDs of the past for a member of a group: checks that the time is over and that no slot had these nodes then, and asks the
// store for numbers. core/src/lease/backfill.rs decides which number is next.
//
// A member that holds a slot knows that the group has not ended: the next group of this name, which may have other slots,
// begins after the windows of this one. So a time up to the end of the window was never in a slot with one of these nodes,
// unless an earlier group had more slots, or its slots had other nodes. The store knows until when that was, if it still shows
// this member's group. Numbers count only in the group in which the store gave them: the next one may give them again, for
// times after those that it refuses.

import type { Backfill } from '../../src/native.d.ts'
import {
  backfillUsedUpError,
  futureError,
  keptByFunctionError,
  keptNodesInUseError,
  optionError,
  pastLostError,
} from '../base/errors.ts'
import { unixNow } from '../base/timers.ts'
import { checkUnit, FARTHEST_MS, readTime } from '../base/values.ts'
import { layoutOf, timeError } from '../codec/layout.ts'
import { idAsBuffer, nativeLayout, putBigInt } from '../native/hot.ts'
import native from '../native/index.ts'
import type { SlotStore, StoreError } from '../stores/store.ts'
import type { JoinSettings } from './join-options.ts'
import { functionOf } from './reserved-nodes.ts'

const NS_PER_MS = 1_000_000n

/** What it asks of the lease. */
export interface Member {
  readonly lineage: string | undefined
  /** throws unless it holds a slot at this time, Unix ms */
  assertHolds: (now: number) => void
}

/** A time in whole Unix ms, rounded down. */
function readDate(given: unknown, epoch: number) {
  const time = readTime('date', given)
  if (typeof given !== 'object') checkUnit('date', time, epoch)
  if (typeof time === 'number') return Math.floor(time)
  return Number(time / NS_PER_MS) - (time % NS_PER_MS < 0n ? 1 : 0)
}

export class PastIds {
  #store
  #member
  #settings
  #core: Backfill | undefined // with the numbers that the group `#checked` gave
  #checked: string | undefined // the group whose earlier slots were looked at
  #usedUntil: number | undefined // Unix ms
  #turns: Promise<unknown> = Promise.resolve() // ends with the last call; it never fails

  constructor(store: SlotStore, member: Member, settings: JoinSettings) {
    this.#store = store
    this.#member = member
    this.#settings = settings
  }

  /** An ID of this time. Calls are in order. */
  async next(given: unknown): Promise<Buffer> {
    const ms = readDate(given, this.#settings.facts.epoch) // now: the caller may change its Date before our turn
    const done = this.#turns.then(() => this.#next(ms))
    this.#turns = done.catch(() => {})
    return done
  }

  async #next(ms: number) {
    const { facts, group } = this.#settings
    for (;;) {
      const now = unixNow() // before the look at the group
      this.#member.assertHolds(now)
      if (ms > now) throw futureError(ms, now)
      if (ms < -FARTHEST_MS) throw timeError(ms, layoutOf(facts), 'date')
      if (this.#checked !== this.#member.lineage) {
        await this.#look(ms)
        continue
      }
      if (this.#usedUntil !== undefined && ms <= this.#usedUntil) throw keptNodesInUseError(group, ms, this.#usedUntil)
      const core = this.#core as Backfill
      const taken = core.take(ms)
      switch (taken.type) {
        case 'id':
          putBigInt(taken.id)
          return idAsBuffer()
        case 'ask':
          await this.#ask(core, taken)
          break
        case 'full':
          throw backfillUsedUpError(group, ms, this.#settings.backfill)
        default:
          throw timeError(ms, layoutOf(facts), 'date')
      }
    }
  }

  async #look(ms: number) {
    const lineage = this.#member.lineage as string // that of its slot: it holds one
    const { group, kept, facts } = this.#settings
    const found = await functionOf(this.#store, facts, kept.nodes)
    if (found !== undefined) throw keptByFunctionError(group, found, ms)
    this.#usedUntil = await this.#store.usedUntil(group, kept.slots, lineage)
    this.#core = new native.Backfill(nativeLayout(facts), kept.nodes)
    this.#checked = lineage
  }

  async #ask(core: Backfill, { record, by }: { record: string; by: bigint }) {
    const { group, config } = this.#settings
    try {
      const lineage = this.#checked as string
      const { number } = await this.#store.past(group, { record, by, lineage, durable: config.durable })
      core.given(record, number, by)
    } catch (error) {
      throw (error as StoreError & { counter?: string }).counter === undefined ? error : pastLostError(group, error)
    }
  }
}

export function noBackfillError() {
  const message =
    'nextAt() needs node numbers that no slot has: pass backfill, such as 4, to createGroup() and join() of this group'
  return optionError(RangeError, 'backfill', 0, message)
}
