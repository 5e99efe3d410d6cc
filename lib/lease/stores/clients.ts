// What the clients of all databases have in common. It must know nothing of a single one: its folder does.

import { inTime, within } from '../../base/in-time.ts'
import { CALL_MS } from './limits.ts'

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

/** A connection of a pool, or the only one that there is. To drop that one, or to give it back, does nothing. */
export interface Lent {
  giveBack: () => void
  drop: () => void
}

/** Work on a connection. Once it is over it may send nothing, because nobody waits for the answer. */
export interface Step {
  isOver: boolean
}

type Work<Connection, Result> = (connection: Connection, step: Step) => Promise<Result>

/**
 * Takes a connection, works on it, and gives it back: within `ms`, and never longer than a call may take.
 * @param isFit whether the connection is still of use after the work, which may have failed with this error
 */
export async function onConnection<Connection extends Lent, Result>(
  take: () => Promise<Connection>,
  work: Work<Connection, Result>,
  isFit: (error: unknown) => boolean,
  ms: number = CALL_MS,
) {
  const step: StepOn<Connection> = { isOver: false }
  try {
    return await inTime(workOn(take, work, isFit, step), Math.min(ms, CALL_MS))
  } finally {
    step.isOver = true
    step.connection?.drop() // it did not answer: it may have died without a word
  }
}

type StepOn<Connection> = Step & { connection?: Connection | undefined }

async function workOn<Connection extends Lent, Result>(
  take: () => Promise<Connection>,
  work: Work<Connection, Result>,
  isFit: (error: unknown) => boolean,
  step: StepOn<Connection>,
) {
  const connection = await take()
  if (step.isOver) {
    connection.giveBack()
    throw new Error('the step was given up')
  }
  step.connection = connection
  let failure: unknown
  try {
    return await work(connection, step)
  } catch (error) {
    failure = error
    throw error
  } finally {
    if (!step.isOver) {
      step.connection = undefined
      if (isFit(failure)) connection.giveBack()
      else connection.drop()
    }
  }
}
