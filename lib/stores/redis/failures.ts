// Failures after which our own client needs another connection.

import type { ClientError } from '../clients.ts'
import { isOfReplica } from './packages.ts'

/** Whether a call had no answer in time, or its caller gave it up before: the connection may have died silently. */
export const isLate = (error: unknown): boolean =>
  (error as ClientError).code === 'ETIMEDOUT' || (error as ClientError).name === 'AbortError'

/** Also after the answer of a replica, because a new connection may lead to the primary. */
export const needsNewConnection = (error: unknown): boolean => isLate(error) || isOfReplica(error)
