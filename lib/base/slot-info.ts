// A slot as lists and errors show it: the errors of unreadable records have those that could be read.

/** A slot, as `list` returns it. Its holder generates IDs only within the window [lo, hi]. */
export interface SlotInfo {
  /** from 0 */
  slot: number
  /** the holder's token; absent while the slot is free */
  owner?: string
  /** the host of the holder, or of the last one */
  host?: string
  /** the beginning of the window: Unix ms by the store's clock */
  lo: number
  /** the end of the window: Unix ms by the store's clock */
  hi: number
  /** file store: the holder's process ID */
  pid?: number
  /** file store: when the holder got the slot */
  since?: Date
  /** file store: when the holder generated its last ID */
  last?: Date
}
