// The options of `flakeforge schema --function`: the name and the layout of a function that makes IDs in the database.

import { factsOf } from '../../lib/codec/layout.ts'
import { type FunctionPlan, planOf } from '../../lib/stores/database-function.ts'
import { readLayout } from '../parts/arguments.ts'
import type { Values } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'

const LONGEST_NAME = 50 // its sequence has a longer one, and PostgreSQL cuts off names after 63 bytes

export interface WantedFunction {
  name: string
  plan: FunctionPlan
}

function readFunctionName(name: string) {
  if (/^[a-z_][a-z0-9_]*$/.test(name) && name.length <= LONGEST_NAME) return name
  const wanted = `1 to ${LONGEST_NAME} lower-case letters, digits and underscores, and no digit first`
  const wayOut = name.includes('.') ? ' For another schema, use an address with ?schema=.' : ''
  throw usageError(`--function must be ${wanted}, not '${name}'.${wayOut}`)
}

/** The options that only a function has. */
const OF_FUNCTION = ['node', 'layout', 'epoch', 'nodes'] as const

/** Undefined without --function. */
export function readFunction(values: Values): WantedFunction | undefined {
  const { function: given, node } = values
  if (given === undefined) {
    const alone = OF_FUNCTION.find((name) => values[name] !== undefined)
    if (alone !== undefined) throw usageError(`--${alone} is about a function that makes IDs: add --function flake_id.`)
    return undefined
  }
  const name = readFunctionName(given)
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
