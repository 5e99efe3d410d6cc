// The options of `flakeforge schema --function` and `--times`: the names and the layout of functions in the database.

import { factsOf } from '../../lib/codec/layout.ts'
import { type FunctionPlan, planOf } from '../../lib/stores/database-function.ts'
import { type TimesPlan, timesPlanOf } from '../../lib/stores/database-times.ts'
import { readLayout } from '../parts/arguments.ts'
import type { Values } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'

const LONGEST_NAME = 50 // its sequence has a longer one, and PostgreSQL cuts off names after 63 bytes

export interface WantedFunction {
  name: string
  plan: FunctionPlan
}

export interface WantedTimes {
  name: string
  plan: TimesPlan
  /** for columns without a sign */
  isUnsigned: boolean
}

function readName(option: string, name: string) {
  if (/^[a-z_][a-z0-9_]*$/.test(name) && name.length <= LONGEST_NAME) return name
  const wanted = `1 to ${LONGEST_NAME} lower-case letters, digits and underscores, and no digit first`
  const wayOut = name.includes('.') ? ' For another schema, use an address with ?schema=.' : ''
  throw usageError(`--${option} must be ${wanted}, not '${name}'.${wayOut}`)
}

/** The options that only one kind of function has, and what it needs then. */
const ONLY_OF = {
  function: { options: ['node'], about: 'a function that generates IDs: add --function flake_id' },
  times: { options: ['unsigned'], about: 'functions that read times: add --times flake' },
} as const

/** The options of both. */
const OF_BOTH = ['layout', 'epoch', 'nodes', 'mode', 'id-offset'] as const

/** All of them, in the order of a command line. */
export const OF_FUNCTIONS: readonly string[] = [
  ...Object.entries(ONLY_OF).flatMap(([kind, { options }]) => [kind, ...options]),
  ...OF_BOTH,
]

/** Refuses what would have no effect. */
export function checkFunctions(values: Values) {
  if (values.function !== undefined && values.times !== undefined)
    throw usageError('--function and --times are printed one at a time: run the command twice.')
  for (const [kind, { options, about }] of Object.entries(ONLY_OF)) {
    const alone = options.find((name) => values[name] !== undefined && values[kind] === undefined)
    if (alone !== undefined) throw usageError(`--${alone} is about ${about}.`)
  }
  const alone = OF_BOTH.find((name) => values[name] !== undefined)
  if (alone !== undefined && values.function === undefined && values.times === undefined) {
    throw usageError(
      `--${alone} is about a function: add --function flake_id, which generates IDs, or --times flake, which reads times.`,
    )
  }
}

/** Undefined without --times. */
export function readTimes(values: Values): WantedTimes | undefined {
  if (values.times === undefined) return undefined
  const name = readName('times', values.times)
  return { name, plan: timesPlanOf(factsOf(readLayout(values, 'flake'))), isUnsigned: Boolean(values.unsigned) }
}

/** Undefined without --function. */
export function readFunction(values: Values): WantedFunction | undefined {
  const { function: given, node } = values
  if (given === undefined) return undefined
  const name = readName('function', given)
  const facts = factsOf(readLayout(values, 'flake'))
  const most = facts.packing.nodeMax
  if (node === undefined) {
    throw usageError(
      `--function needs the number of a node that no process uses, as in '--node ${most}'. A group of ${most} slots leaves it out.`,
    )
  }
  if (!/^\d+$/.test(node) || Number(node) > most) {
    throw usageError(`--node must be a whole number from 0 to ${most} with layout '${facts.name}', not '${node}'.`)
  }
  return { name, plan: planOf(facts, Number(node)) }
}
