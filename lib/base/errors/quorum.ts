// Errors and warnings about one store that consists of several: quorumStore().

import { withoutEnd } from '../printable.ts'
import { said, warn } from './foreign.ts'
import { flakeError, inMs, pageOf, show } from './make.ts'
import { isPassing, ownStoreError, passing, type RecordFault, recordError, refusedWriteError } from './stores.ts'
import { optionError } from './values.ts'

const PAGE = pageOf('docs/store/quorum.md')

/** `ERR_FLAKE_OPTION`: a list of a length that no majority suits. */
export function listLengthError(given: readonly unknown[]) {
  const { length } = given
  const why =
    length === 1
      ? 'Pass a single store itself'
      : 'Three stores survive the loss of one, and five the loss of two. A second or fourth store would add nothing'
  const message = `A list of stores must have 3 or 5 stores, but has ${length}. ${why}. See ${PAGE}.`
  return optionError(RangeError, 'stores', length, message)
}

/** `ERR_FLAKE_OPTION`: one item of a list cannot be a store of it. `must`: the requirement. */
export const listedStoreError = (at: number, given: unknown, must: string) =>
  optionError(TypeError, `stores[${at}]`, given, `stores[${at}] must be ${must}, but is ${show(given)}`)

/** `ERR_FLAKE_OPTION`: two stores of a list have one label, or are one server. */
export function sameStoreError(one: string, other: string) {
  const what = one === other ? `'${one}' twice` : `'${one}' and '${other}', which are one server`
  const message =
    `The list of stores has ${what}. Each store must be a separate server, on a separate machine: a server that is counted ` +
    'twice takes two votes with it when it fails.'
  return optionError(RangeError, 'stores', other, message)
}

/** A store of a list that gave no answer, and why. */
type Silent = { label: string; error: unknown }

const reasonOf = ({ label, error }: Silent) => `${label} (${withoutEnd(said(error ?? 'it has not answered'))})`

/**
 * `ERR_FLAKE_STORE`: fewer than a majority of the stores took part. `what`: the group or counter; `silent`: the stores without a
 * usable answer.
 */
export function fewStoresError(
  what: string,
  { needed, size, silent }: { needed: number; size: number; silent: Silent[] },
) {
  const message =
    `Only ${size - silent.length} of the ${size} stores of '${what}' can be used, and ${needed} are needed. Unusable: ` +
    `${silent.map(reasonOf).join('; ')}.`
  const error = ownStoreError(message, silent.find(({ error }) => error !== undefined)?.error)
  return silent.some(({ error }) => isPassing(error)) ? passing(error) : error
}

/** `ERR_FLAKE_STORE`: stores answered, but no majority of them agreed in time. */
export function noAgreementError(what: string, ms: number, silent: Silent[]) {
  const away = silent.length === 0 ? '' : ` Without an answer: ${silent.map(reasonOf).join('; ')}.`
  return passing(
    ownStoreError(
      `The stores of '${what}' did not agree within ${inMs(ms)}: other members write to them all the time, or too few of them ` +
        `answer in time.${away}`,
      silent[0]?.error,
    ),
  )
}

/** `ERR_FLAKE_STORE`: too many stores refuse to write. */
export function refusedMajorityError(what: string, refusals: Silent[]) {
  const message = `Too many stores of '${what}' refuse to write: ${refusals.map(reasonOf).join('; ')}.`
  return refusedWriteError(message, refusals[0].error)
}

/** `ERR_FLAKE_CONFIG_MISMATCH`: a store belongs to another list. `label`: by which it was reached. */
export function otherListError(label: string, theirs: string, ours: string) {
  const message =
    `The store ${label} belongs to the list of stores ${theirs} but this process uses ${ours}. All members of a group must use the ` +
    `same list, with the same spelling of each address; only the order does not matter. See ${PAGE}.`
  return flakeError('ERR_FLAKE_CONFIG_MISMATCH', message, { theirs, ours })
}

/** `ERR_FLAKE_STORE`: the list of a group cannot be changed to the one that was given. */
export const listChangeError = (list: string) =>
  ownStoreError(
    `The list of stores ${list} cannot be changed to that one. Replace one store at a time, or add two to a list of three.`,
    undefined,
  )

/** `ERR_FLAKE_STORE`: a store that is new in a list does not answer, so the list stays as it is. */
export const newcomerError = (label: string, error: unknown) =>
  ownStoreError(
    `The new store ${label} does not answer: ${withoutEnd(said(error ?? 'it has not answered'))}. Nothing was changed.`,
    error,
  )

/** `ERR_FLAKE_STORE`: a store is in the list of a group, but has no vote yet. */
export const notFilledError = (group: string, label: string) =>
  ownStoreError(
    `The store ${label} is in the list of '${group}', but is not filled yet: members fill it, and so does the same command.`,
    undefined,
  )

/** `ERR_FLAKE_CONFIG_MISMATCH`: one server answers under two labels of a list, or two addresses were exchanged. */
export function otherLabelError(label: string, theirs: string) {
  const message =
    `The store that was reached as ${label} is known as ${theirs}: two addresses of the list lead to one server, or were ` +
    `exchanged. Each must lead to a separate server, and always to the same one. See ${PAGE}.`
  return flakeError('ERR_FLAKE_CONFIG_MISMATCH', message, { theirs, ours: label })
}

/** `ERR_FLAKE_RECORD`: a record of a store cannot be one of a list. `label`: of the store. */
export function listedRecordError(group: string, label: string, fault: RecordFault) {
  if (fault.version !== undefined) return recordError(group, fault)
  const message =
    `Record '${fault.name}' of '${group}' on ${label} is damaged, or does not belong to a list of stores. If it is damaged, delete all ` +
    `records of '${group}' there: the other stores have them. If it belongs to a separate group or counter, both groups would ` +
    'grant the same node numbers: stop all members of the separate one, destroy it there, and delete its records.'
  return flakeError('ERR_FLAKE_RECORD', message, { group, record: fault.name })
}

/** Warns that a store of a list does not take part. The others do its work, so nothing else would show it. */
export const warnOfStoreAway = (label: string, error: unknown) =>
  warn(
    'FLAKEFORGE_STORE_AWAY',
    `The store ${label} does not take part: ${withoutEnd(said(error))}. IDs are generated as long as a majority of the list takes part. ` +
      'Another warning says when it is back.',
  )

/** Warns that it takes part again. */
export const warnOfStoreBack = (label: string) => warn('FLAKEFORGE_STORE_AWAY', `The store ${label} takes part again.`)

const outdated: Set<string> = new Set()

/** Warns once that this process has an earlier list of a group's stores. */
export function warnOfNewerList(group: string, list: string) {
  const what = `${group}\n${list}`
  if (outdated.has(what)) return
  outdated.add(what)
  warn(
    'FLAKEFORGE_STORE_LIST',
    `The stores of '${group}' are now ${list} but this process has an earlier list. It uses those stores that are in both, ` +
      'so it survives fewer failures. Restart it with the new list.',
  )
}
