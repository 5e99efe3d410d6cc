// Errors about the sources of a generator's numbers: files that cannot be used, and sides that disagree.

import type { FlakeError } from './flake-error.ts'
import { flakeError, retold } from './make.ts'

/** The addon reports this in place of a result: `theirs` and `ours` differ, or `path` cannot be used because of `why`. */
export type Problem = { theirs: string | null; ours: string | null; path: string | null; why: string | null }

/** The word that says what a part of a description is about: 'slots' of '8 slots'. */
const subjectOf = (part: string) => /[a-z]\w*/i.exec(part.replace(/^no /, ''))?.[0]

/** Of the first description, what the second lacks or has otherwise. */
function differing(one: string[], other: string[]) {
  const all = one.filter((part) => !other.includes(part))
  const own = all.filter((part) => all.length === 1 || subjectOf(part) !== 'fields') // which is long, and follows from the others
  const subjects = one.map(subjectOf)
  const missing = other.map(subjectOf).filter((subject) => !subjects.includes(subject) && subject !== 'fields')
  return [...own, ...missing.map((subject) => `no ${subject}`)].join(', ')
}

/** What differs, in a sentence. */
function difference(where: string, theirs: string, ours: string) {
  const [has, uses] = [theirs, ours].map((side) => side.split(', '))
  return `${where} has ${differing(has, uses)}; this process uses ${differing(uses, has)}.`
}

const SAME = 'Use the options that it was created with.'

/** The mismatches that nobody who knows more has explained. */
const unexplained = new WeakSet<object>()

/**
 * `ERR_FLAKE_CONFIG_MISMATCH`: two sides must agree but do not.
 * @param where the file or group
 * @param theirs its description: parts with commas between them
 * @param ours the same of this process
 */
export function mismatchError(where: string, theirs: string | null, ours: string | null) {
  const message = `${difference(where, String(theirs), String(ours))} ${SAME}`
  const error = flakeError('ERR_FLAKE_CONFIG_MISMATCH', message, { theirs, ours })
  unexplained.add(error)
  return error
}

/**
 * Explains a mismatch; returns any other error as it is.
 * @param where the group, whatever file or record of it was compared
 * @param named both sides with names in place of bits where there are names
 * @param wayOut how to change the options for all members, from the sentence that says what differs
 */
export function explained(
  error: unknown,
  where: string,
  named: (sides: string[]) => string[],
  wayOut: (differs: string) => string,
) {
  if (!unexplained.delete(error as object)) return error
  const mismatch = error as FlakeError<'ERR_FLAKE_CONFIG_MISMATCH'>
  const [has, uses] = named([mismatch.theirs, mismatch.ours].map(String))
  const differs = difference(where, has, uses)
  return retold(mismatch, `${differs} ${SAME} ${wayOut(differs)}`)
}

/** `ERR_FLAKE_FILE`: a shared or slot file cannot be used. `why` states the fault and the remedy. */
function fileError(path: string | null, why: string, cause?: unknown) {
  return flakeError('ERR_FLAKE_FILE', path === null ? why : `${path}: ${why}`, {
    path: path ?? undefined,
    cause,
  })
}

const LEASED = 'a lease' // as core/src/generator/registry.rs calls it

/** `ERR_FLAKE_CONFIG_MISMATCH`: one node number would get two cursors in this process. */
function clashError(node: string | undefined, theirs: string | null, ours: string | null) {
  const wayOut =
    theirs === LEASED
      ? 'Call join() for this generator too, or use a node number that no slot of the group has: other processes may hold the ' +
        'other slots. The number is free again after close() and the end of its window.'
      : 'Use only one of the two, or a node number that no other process uses.'
  const message =
    `${node} already takes its numbers from ${theirs} in this process. Taking them from ${ours} too would ` +
    `cause equal IDs. ${wayOut}`
  return flakeError('ERR_FLAKE_CONFIG_MISMATCH', message, { theirs, ours })
}

/** The error for the addon's report: a bad file, or two sides that disagree. `where`: the subject of a mismatch. */
export function problemError({ theirs, ours, path, why }: Problem, where?: string) {
  if (why !== null) return fileError(path, why)
  return path === null ? clashError(where, theirs, ours) : mismatchError(path, theirs, ours)
}

/**
 * `ERR_FLAKE_FILE`: files of a group cannot be read. `slots`: the contents of the other files; `faults`: the fault of each
 * bad one.
 */
export function unreadableFilesError(faults: Problem[], slots: object[]) {
  const [first, ...others] = faults.map((fault) => problemError(fault))
  return Object.assign(first, { slots, faults: [first.message, ...others.map(({ message }) => message)] })
}
