// The events of a lease, as its listeners see them.

/** The argument of listeners for a lease's events. */
export interface LeaseDetail {
  group: string
  slot?: number
  /** the reason of `renewal-failed` and `lost`, and of `detached` unless `detach()` or `close()` was called */
  cause?: Error
  /** for `renewal-failed`: IDs can be generated until then, or longer if a later renewal succeeds */
  expires?: Date
}

export type LeaseEvent = 'attached' | 'renewed' | 'renewal-failed' | 'lost' | 'detached' | 'destroyed'

export const EVENTS: readonly LeaseEvent[] = ['attached', 'renewed', 'renewal-failed', 'lost', 'detached', 'destroyed']

export type LeaseListener<E extends LeaseEvent | 'error'> = E extends LeaseEvent
  ? (detail: LeaseDetail) => void
  : (error: Error) => void
