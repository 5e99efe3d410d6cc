// What the clients of all databases have in common. It must know nothing of a single one: its folder does.

import { within } from '../../base/in-time.ts'

/** What a client throws: an error, perhaps with what the server said. */
export type ClientError = Error & { code?: string; errno?: number; sqlMessage?: string; cause?: ClientError }

/** How long it may take to end our own client: all work is done by then, except for a step that is stuck. */
const END_MS = 5000

/**
 * Whether this has all these methods. We recognise clients by what they can do: several versions and copies of a package
 * may be installed, so a class says nothing.
 */
export const hasMethods = (client: unknown, ...names: string[]) => {
  const given = client as Record<string, unknown> | null | undefined
  return names.every((name) => typeof given?.[name] === 'function')
}

/** Ends our own client. If a step is stuck, it leaves the client alone, which does not keep the process alive. */
export const endInTime = (end: () => Promise<unknown>) => within(end(), END_MS).catch(() => {})
