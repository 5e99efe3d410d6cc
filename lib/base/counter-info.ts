// A counter on a store, as users see it.

/** A counter, as `counter` and `counters` return it. */
export interface CounterInfo {
  name: string
  /** the first number that it has not granted yet: members may hold lower ones that they have not handed out */
  next: bigint
  /** identifies it: 16 hex digits, other ones after `skipTo` and for another counter of this name */
  lineage: string
  /** whether it may have lost blocks and grants none until `skipTo` */
  isLost: boolean
  /** whether its members trust the store never to lose acknowledged writes; absent in a folder */
  durable?: boolean
}
