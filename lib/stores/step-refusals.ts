// The error for each refusal of a step of core/src/lease/grants.rs.

import type { StepAnswer, StepConfig } from '../../src/native.d.ts'
import * as errors from '../base/errors.ts'

/** An answer, and the lineage of its group or counter. */
export type Answer = StepAnswer & { lineage: string }

export type AnswerOf<Type extends Answer['type']> = Extract<Answer, { type: Type }>

/** The errors for a step's refusals, by the type of the answer. `config`: the task's, present if its refusal needs it. */
const REFUSALS: { [Type in Answer['type']]?: (answer: AnswerOf<Type>, name: string, config: StepConfig) => Error } = {
  quiet: ({ until, now }, name) => errors.quietError(name, until, now),
  exhausted: ({ until, now }, name) => errors.exhaustedError(name, until, now),
  mismatch: ({ theirs }, name, config) => errors.groupMismatchError(name, theirs, config),
  durable: ({ isDurable }, name) => errors.counterMismatchError(name, isDurable),
  twoServers: ({ shown, recorded }, name) => errors.twoServersError(name, shown, recorded),
  skew: ({ by, bound }) => errors.clockSkewError(by, bound),
  ended: (_, name) => errors.destroyedError(name),
  absent: (_, name) => errors.absentError(name),
  record: ({ fault }, name) => errors.recordError(name, fault),
  gone: (_, name) => errors.counterError('gone', name),
  behind: (_, name) => errors.counterError('behind', name),
  full: ({ number }, name) => errors.counterError('full', name, number),
  config: ({ text }, _, config) => errors.optionRangeError('config', config, `a valid one: ${text}`),
  nonsense: ({ text }, name) => errors.storeError(`The store of '${name}' gave an impossible answer: ${text}.`),
}

/**
 * The error for an answer that refuses; undefined for any other answer.
 * @param name of the group or counter
 */
export function refusalOf(answer: Answer, name: string, config: StepConfig | undefined) {
  const refusal = REFUSALS[answer.type] as ((...words: unknown[]) => Error) | undefined
  const error = refusal?.(answer, name, config)
  return error !== undefined && answer.lineage !== undefined ? Object.assign(error, { lineage: answer.lineage }) : error
}
