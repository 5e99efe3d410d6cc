// What the clients of all databases have in common: how they are recognised and ended, and what a connection is. What differs
// from database to database is in its folder.

import { within } from '../../base/in-time.ts'
import { BUDGET } from '../time-budget.ts'

/** What a client throws: an error, perhaps with what the server said. */
export type ClientError = Error & { code?: string; errno?: number; sqlMessage?: string; cause?: ClientError }

/**
 * Whether this has all these methods. We recognise clients by what they can do: several versions and copies of a package
 * may be installed, so a class says nothing.
 */
export const hasMethods = (client: unknown, ...names: string[]) => {
  const given = client as Record<string, unknown> | null | undefined
  return names.every((name) => typeof given?.[name] === 'function')
}

/** Ends our own client. If a step is stuck, it leaves the client alone, which does not keep the process alive. */
export const endInTime = (end: () => Promise<unknown>) => within(end(), BUDGET.CLIENT_STUCK_MS).catch(() => {})

/**
 * A connection of a pool, or the only one that there is. `giveBack()` does nothing to that one. `drop()` closes it and
 * returns true; where the client has no way to close it, it returns false, and what was sent stays under way.
 */
export interface Lent {
  giveBack: () => void
  drop: () => boolean
}

/** Work on a connection. Once it is over it may send nothing, because the caller no longer waits for the answer. */
export interface Step {
  isOver: boolean
}
