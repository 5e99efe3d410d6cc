// The node number of a generator, from named values, `id` or the node fields: in its options, else in the environment, else
// 0. Two sources that could disagree are an error: ignoring one would break whatever relies on it.

import { isAbsent, type Options, readBounded, readInteger } from '../base/check.ts'
import * as errors from '../base/errors.ts'
import { type LayoutFacts, onceEach } from '../codec/facts.ts'
import { warnOfVariables, warnOfWorker } from './ignored-variables.ts'

/** The node number, with the values of the node fields by name if `id` is not given. */
export function readNodes(given: Options, facts: LayoutFacts, label: (name: string) => string = (name) => name) {
  const node = facts.readNode(given, label)
  const nodes: Record<string, number> = {}
  if (!isAbsent(given.id)) return { node, nodes }
  for (const { name, max } of facts.nodeFields) {
    nodes[name] = isAbsent(given[name]) ? 0 : readBounded(label(name), given[name], 0, max)
  }
  return { node, nodes }
}

const ORDINAL = 'ordinal'

/** The node number, `nodeOffset` included, and the node fields that were given by name. */
export function readNodeNumber(options: Options, facts: LayoutFacts) {
  const values = choose(options, facts)
  const label = (name: string) => (isAbsent(options[name]) ? variableOf(name) : name)
  const other = isAbsent(values.id) ? undefined : facts.nodeNames.find((name) => !isAbsent(values[name]))
  if (other !== undefined) {
    const why = `together with ${label('id')} (${values.id}), which is the whole node number`
    throw errors.unusableOptionError(label(other), values[other], why)
  }
  if (values.id === ORDINAL) values.id = ordinal()
  const { node, nodes } = readNodes(values, facts, label)
  if (isAbsent(options.id)) lookAround(facts, node === 0)
  if (node === 0 && isAbsent(options.shared) && isAbsent(options.clock)) lookForCluster(!isUnnamed(values))
  return { node: shift(node, options.nodeOffset, facts.packing.nodeMax), nodes }
}

/**
 * The values by name: from the options, plus the fields that they leave out from the environment, unless `id` covers them
 * all. If the options have none, from the environment alone.
 */
function choose(options: Options, facts: LayoutFacts) {
  const values: Options = { id: options.id }
  let isSilent = isAbsent(options.id)
  const { nodeNames } = facts
  const variables = variablesOf(facts)
  for (let i = 0; i < nodeNames.length; i++) {
    const name = nodeNames[i]
    const isLeftOut = isAbsent(options[name])
    values[name] = isLeftOut && isAbsent(options.id) ? process.env[variables[i]] : options[name]
    isSilent &&= isLeftOut
  }
  if (isSilent) values.id = process.env.FLAKEFORGE_ID
  return values
}

/** @param values of `id` and the node fields, whatever their source */
const isUnnamed = (values: Options) => Object.values(values).every((value) => isAbsent(value) || value === '')

const PREFIX = 'FLAKEFORGE_'

/** Variables of every layout; the last one is for our tests. */
const COMMON = ['FLAKEFORGE_ID', 'FLAKEFORGE_STORE', 'FLAKEFORGE_REQUIRE_SERVERS']

/** The layouts whose variables were checked, with node 0 and with others: these do not change meanwhile. */
const [seenWithZero, seen] = [new WeakSet(), new WeakSet()]

/**
 * Warns of variables that look like ours but are ignored here.
 * @param isZero whether the node number is 0
 */
function lookAround(facts: LayoutFacts, isZero: boolean) {
  const known = isZero ? seenWithZero : seen
  if (known.has(facts)) return
  known.add(facts)
  const variables = variablesOf(facts)
  const others = unread(variables)
  if (others.length > 0) warnOfVariables(others, variables, isZero)
}

/** The variables that look like ours but are not in the list. */
export function unread(variables: readonly string[]) {
  const isOther = (name: string) => name.startsWith(PREFIX) && !COMMON.includes(name) && !variables.includes(name)
  return Object.keys(process.env).filter(isOther)
}

/**
 * Warns if several processes are probably running this code with node number 0. A worker of a cluster has a channel to its
 * primary, and PM2 numbers its processes, so other processes need not load node:cluster.
 * @param isGiven whether the program or the environment gave the number 0
 */
export function lookForCluster(isGiven: boolean = false) {
  if (process.channel || process.env.NODE_APP_INSTANCE) warnOfWorker(isGiven)
}

/** The environment variable of a node field, or of `id`. */
export const variableOf = (name: string) => PREFIX + name.toUpperCase()

/** The variables of a layout's node fields, cached: making these texts takes longer than everything else here. */
const variablesOf = onceEach(({ nodeNames }) => nodeNames.map(variableOf))

/** The number at the end of a pod's host name in a StatefulSet: 3 in `orders-3`. */
function ordinal() {
  const host = process.getBuiltinModule('node:os').hostname()
  const [, number] = /-(\d+)$/.exec(host) ?? []
  if (number === undefined) {
    const message =
      `id 'ordinal' takes the number at the end of the host name, as in 'orders-3', but the host name is '${host}': ` +
      'give id as a number'
    throw errors.optionError(RangeError, 'id', ORDINAL, message)
  }
  return number
}

/** Hazelcast's node-id-offset. */
function shift(node: number, offset: unknown, max: number) {
  if (isAbsent(offset)) return node
  const shifted = node + readInteger('nodeOffset', offset, 'an integer')
  if (shifted < 0 || shifted > max) {
    const wanted = `an integer from ${-node} to ${max - node}, so that node ${node} stays within 0 to ${max}`
    throw errors.optionRangeError('nodeOffset', offset, wanted)
  }
  return shifted
}
