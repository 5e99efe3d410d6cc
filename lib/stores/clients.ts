// The common part of all databases' clients: how they are recognised and ended, and what a connection is. Each database's
// folder has the rest.

import { ownOf } from '../base/check.ts'
import { said } from '../base/errors.ts'
import { within } from '../base/in-time.ts'
import { withoutSecrets } from '../base/printable.ts'
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

type Settings = { host?: unknown; port?: unknown; path?: unknown; database?: unknown; connectionString?: unknown }

/** Where a client leads by its settings, as host, port and database; undefined if they do not say it. */
export function serverIn(settings: unknown): string | undefined {
  const { host, port, path, database, connectionString } = ownOf(Object(settings)) as Settings
  if (typeof connectionString === 'string') return withoutSecrets(connectionString)
  const hosts = [path || host].flat()
  if (typeof hosts[0] !== 'string') return undefined
  const ports = path ? [] : [port].flat()
  const shown = hosts.map((each, i) => (ports[i] === undefined ? each : `${each}:${ports[i]}`)).join(',')
  return said(typeof database === 'string' && database !== '' ? `${shown}/${database}` : shown)
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
