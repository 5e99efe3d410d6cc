// The common part of all databases' clients: how they are recognised and ended, and what a connection is. Each database's
// folder has the rest.

import { within } from '../base/in-time.ts'
import { BUDGET } from './time-budget.ts'

/** A client's error, perhaps with the server's message. */
export type ClientError = Error & { code?: string; errno?: number; sqlMessage?: string; cause?: ClientError }

/**
 * Whether this has all these methods. Clients are recognised by their methods: several versions and copies of a package may
 * be installed, so a class is no proof.
 */
export const hasMethods = (client: unknown, ...names: string[]) => {
  const given = client as Record<string, unknown> | null | undefined
  return names.every((name) => typeof given?.[name] === 'function')
}

/** Ends our own client. If a step is stuck, it leaves the client alone, which does not keep the process alive. */
export const endInTime = (end: () => Promise<unknown>) => within(end(), BUDGET.CLIENT_STUCK_MS).catch(() => {})

/**
 * A connection of a pool, or the only one. `giveBack()` has no effect on the only one. `drop()` closes it and returns true;
 * if the client cannot close it, it returns false, and the statement keeps running. `hasEnded()`: whether the only one is
 * closed, so that the client will never work again.
 */
export interface Lent {
  giveBack: () => void
  drop: () => boolean
  hasEnded?: () => boolean
}
