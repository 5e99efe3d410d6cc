// Errors about servers that generate IDs for others. They hold no token, and no raw error of a request, which may hold one. Uses
// no module of Node: browsers load this file too.

import { withoutEnd } from '../printable.ts'
import type { RemoteFailure } from './codes.ts'
import type { FlakeError } from './flake-error.ts'
import { said } from './foreign.ts'
import { flakeError, inMs, show } from './make.ts'
import { optionError } from './values.ts'

/** The same, with fields that only a client needs. */
export interface Failure extends RemoteFailure {
  /** whether it took too long, so that fewer IDs may help */
  isLate?: boolean
  /** whether no retry and no other server would help */
  isFinal?: boolean
}

/** Where IDs come from: a server, with the layout and group that it names with its answer. */
export type Origin = { server: string; layout: string | null; group: string | null }

/** The longest text that a server may send about itself. */
const LONGEST_WORDS = 200

/** `ERR_FLAKE_OPTION`: a value that is secret, or contains a secret, and so is not shown. */
export function secretOptionError(option: string, why: string) {
  return optionError(TypeError, option, undefined, `${option} ${why}`)
}

/** A single server's code that becomes the code of the whole error: an operator has to fix each of these. */
const TELLING = ['ERR_FLAKE_CONFIG_MISMATCH', 'ERR_FLAKE_REPLAY'] as const

/**
 * `ERR_FLAKE_REMOTE`: every server has failed; `ERR_FLAKE_CONFIG_MISMATCH` if one generates IDs of another group,
 * `ERR_FLAKE_REPLAY` if an answer was a copy of an earlier one. `triedMs`: for how long they were asked.
 * @param failures the last one of each server
 */
export function noServerError(name: string, failures: Failure[], triedMs: number) {
  const reasons = failures.map(({ server, reason }) => `${server}: ${reason}.`).join(' ')
  const who = failures.length === 1 ? 'The server returned no' : `None of the ${failures.length} servers returned`
  const message = `${who} IDs of ${show(name)} within ${inMs(triedMs)}. ${reasons}`
  const times = failures.flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  const retry = times.length === 0 ? {} : { retryAfterMs: Math.min(...times) }
  const code = TELLING.find((each) => failures.some(({ code }) => code === each)) ?? 'ERR_FLAKE_REMOTE'
  return flakeError(code, message, { failures, ...retry })
}

/**
 * `ERR_FLAKE_CONFIG_MISMATCH`: a server generates IDs of a different layout or group than before.
 * @param ours of the server that sent the last IDs, or of this generator, whose group has that `name`
 */
export function otherGroupError(
  name: string,
  { server, ...theirs }: Origin,
  ours: Partial<Origin> & { name?: string; layout: string | null; group: string | null },
) {
  const isOther = theirs.layout === ours.layout ? 'group' : 'layout'
  const who = ours.server ?? `this generator of group ${show(ours.name)}`
  const message =
    `${server}: ${show(name)} ${inWords(isOther, theirs[isOther])}, and that of ${who} ${inWords(isOther, ours[isOther])}. ` +
    `Their IDs could be equal, so those of ${server} are not used. All servers of a client must serve one group under this name, on ` +
    'one store and with one layout.'
  return flakeError('ERR_FLAKE_CONFIG_MISMATCH', message, {
    server,
    other: ours.server,
    theirs: theirs[isOther],
    ours: ours[isOther],
  })
}

/** @param text as the server sent it */
function inWords(what: 'group' | 'layout', text: string | null) {
  if (text !== null) return `has the ${what} ${said(text, LONGEST_WORDS)}`
  return what === 'layout' ? 'has no layout, like a SegmentId' : 'does not name its group'
}

/** Why IDs are not used for now: their group may have been recreated, or may be a different one. */
export function unknownGroupReason(ours: Origin) {
  return (
    `has IDs of a different group than ${ours.server}, which sent the last ones and does not answer. If its group was ` +
    'recreated, a new client accepts the IDs'
  )
}

/** What to do about an intermediary that returns an answer twice. */
const NO_CACHE =
  'Configure every proxy, gateway and cache between client and server not to cache POST, and to pass on the header ' +
  'flakeforge-nonce in both directions'

/** Why an answer without the nonce of its request is not used. */
export const foreignAnswerReason = () =>
  `answered without the nonce of this request, so the answer may be a copy of an earlier one. ${NO_CACHE}`

/** Why an answer with the nonce of its request, but with earlier IDs, is not used. */
export const repeatedReason = (id: bigint) =>
  `sent the ID ${id}, which is not after the last ID of its slot or was sent before. ${NO_CACHE}`

/** A server refused a request, and no retry can help: the error has the server's code and message. */
export function refusedError({ server, reason, status, code = 'ERR_FLAKE_REMOTE' }: Failure) {
  return flakeError(code as 'ERR_FLAKE_REMOTE', `${server}: ${reason}.`, { server, status }, Error)
}

/**
 * `ERR_FLAKE_OVERFLOW`: fewer IDs are left than requested, and more have been requested. `cause`: why the last request
 * brought none.
 */
export function fetchedUsedUpError(
  name: string,
  { wanted, here, retryAfterMs, cause }: { wanted: number; here: number; retryAfterMs: number; cause?: unknown },
) {
  const message =
    `${wanted} IDs of ${show(name)} were requested, but only ${here} are available. More have been requested, and arrive in a ` +
    'later turn of the event loop. next(callback), nextAsync() and takeAsync() wait for them. A larger prefetch lasts longer.'
  return flakeError('ERR_FLAKE_OVERFLOW', message, { retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)), cause })
}

/** `ERR_FLAKE_DETACHED`: a client was closed. */
export function closedRemoteError(name: string) {
  const message = `This client of ${show(name)} is closed. Call RemoteFlakeId.connect() for a new one.`
  return flakeError('ERR_FLAKE_DETACHED', message, {})
}

/** `ERR_FLAKE_OPTION`: the IDs of this name are too large for numbers. */
export function notExactNameError(name: string) {
  const message =
    `The IDs of ${show(name)} cannot be returned as numbers: some are above 2^53 − 1. Use nextBigInt() or takeBigInts(), or a ` +
    "name whose layout is 'safe'."
  return optionError(RangeError, 'name', name, message)
}

/**
 * Neither a slot nor a server supplies IDs. The error has the code and fields of the servers' failure; its `cause` is why
 * there is no slot.
 * @param slot why no slot supplies IDs
 * @param servers why no server does
 */
export function noSourceError(group: string, slot: Error, servers: Error) {
  const { code = 'ERR_FLAKE_REMOTE', ...fields } = servers as FlakeError<'ERR_FLAKE_REMOTE'>
  const message =
    `This generator of group '${group}' has neither a slot nor a server to get IDs from. The store: ${withoutEnd(slot.message)}. The servers of elseFrom: ` +
    servers.message
  return flakeError(code, message, { ...fields, group, cause: slot }, Error)
}
