// A counter on a store, as users see it.

/** A segment counter, as `counter` and `counters` return it. */
export interface CounterInfo {
  name: string
  /** the first number that the counter has not granted yet; members may still hold lower ones */
  next: bigint
  /** identifies the counter: 16 hex digits, which change after `skipTo`, or if the counter is created again */
  lineage: string
  /** whether blocks may have been lost, so that the counter grants none until `skipTo` */
  isLost: boolean
  /** whether the members promise that the store never loses acknowledged writes; absent in a folder */
  durable?: boolean
}
