// Errors about stores, and about the records of groups that they keep.

import { withoutEnd } from '../printable.ts'
import { FlakeError } from './flake-error.ts'
import { causeOf, said, warn } from './foreign.ts'
import { flakeError, inMs, instant, pageOf, retold, show } from './make.ts'
import { mismatchError } from './sources.ts'

/** An unreadable record. `version`: of its format, if that is newer; `needs`: the release that reads it. */
export type RecordFault = { name: string; version?: number; needs?: string }

/** The options that all members of a group must agree on. */
type GroupConfig = Record<(typeof GROUP_OPTIONS)[number], unknown>

/** `ERR_FLAKE_STORE`: a call to a store failed. It has no cause if the store answered and refused. */
export function storeError(why: string, cause?: unknown) {
  return ownStoreError(why, causeOf(cause))
}

/** The same with a cause that is kept as it is: an error of ours, or one that a function of the user's own store threw. */
export const ownStoreError = (why: string, cause: unknown) => flakeError('ERR_FLAKE_STORE', why, { cause })

const SILENT_CHECK = 'the host and the port, which may be of another service, and any firewall'

/** What to check, by the words of clients and servers. The first match is used: names of hosts come before all else. */
const CHECKS: [RegExp, string][] = [
  [/ENOTFOUND|EAI_AGAIN/, 'the host name'],
  [/ECONNREFUSED|ENOENT/, 'that the server runs there, and the port'],
  [
    /NOAUTH|WRONGPASS|authenti|password|credential|Access denied|ACL failure|role .*(?:does not exist|not permitted)/i,
    'the user and password',
  ],
  [
    /certificate|self-signed|\bTLS\b|\bSSL\b|EPROTO|wrong version number/i,
    'the certificates, and that client and server agree on TLS',
  ],
  [/database .*(?:does not exist|not currently accept)|Unknown database|DB index/i, 'that this database exists there'],
  [
    /too many (?:clients|connections)|connection slots|max number of clients/i,
    'how many connections the server allows',
  ],
  [
    /ECONNRESET|EPIPE|terminat|shut(?:ting)? ?down|starting up|hang up|other side|gone away|\b(?:closed|ended|lost)\b/i,
    'that the server runs there',
  ],
  [
    /time-?out|timed out|time limit|not answer|no answer|no connection|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/i,
    SILENT_CHECK,
  ],
]

/** Without what is quoted, such as a group that is called 'password'. */
const unquoted = (text: string) => text.replace(/(?<!\w)(?:'[^']*'|"[^"]*")/g, '')

/** What to check; undefined if nothing is known, or the message says it. */
function checkOf(error: FlakeError) {
  const { message, cause } = error
  if (cause === undefined || isEnded(error)) return undefined
  if (cause instanceof FlakeError && cause.code !== 'ERR_FLAKE_STORE') return undefined
  const words = unquoted(`${message} ${said(cause)}`)
  const check = CHECKS.find(([pattern]) => pattern.test(words))?.[1]
  const isSaid = message.includes(check === SILENT_CHECK ? ' Check ' : ` Check ${check}`)
  return isSaid ? undefined : check
}

const located = new WeakSet<Error>()

/**
 * An error of a store, with where that is and what to check there; any other error as it is.
 * @param where as it follows "The store is", without secrets; undefined if the user's client does not show it
 */
export function locatedError<Kind extends Error>(error: Kind, where: string | undefined): Kind {
  if (!(error instanceof FlakeError) || error.code !== 'ERR_FLAKE_STORE' || located.has(error)) return error
  located.add(error)
  const check = checkOf(error)
  const place = where === undefined ? undefined : `The store is ${where}`
  const added = [
    ...(place === undefined || error.message.includes(place) ? [] : [`${place}.`]),
    ...(check === undefined ? [] : [`Check ${check}.`]),
  ]
  return added.length === 0 ? error : retold(error, [`${withoutEnd(error.message)}.`, ...added].join(' '))
}

/**
 * The advice to use another schema, database or server. The records of two places know nothing of each other, so members must
 * not move one by one.
 */
export const useAnother = (place: string) =>
  `use another ${place}, after you have stopped all members: two ${place}s grant the same node numbers`

const refused = new WeakSet<Error>()

/**
 * `ERR_FLAKE_STORE`: the server definitely refused a write, for example because of missing rights or a full disk. Nothing was
 * written, and an immediate retry would not help, so a step ends with this error.
 */
export function refusedWriteError(why: string, cause?: unknown) {
  const error = storeError(why, cause)
  refused.add(error)
  return error
}

/** Whether the server definitely refused: see refusedWriteError(). */
export const isRefusedWrite = (error: unknown) => refused.has(error as Error)

const ended = new WeakSet<object>()

/** `ERR_FLAKE_STORE`: the user's client had one connection, which is closed. */
export function endedError(cause: unknown) {
  const why =
    'The only connection of this client has ended, and the client makes no other. Give the store a pool or an address, or call ' +
    `join() again with a new client. (${said(cause)})`
  const error = storeError(why, cause)
  ended.add(error)
  return error
}

/** Whether no later call of this store can work: see endedError(). */
export const isEnded = (error: unknown) => ended.has(error as object)

const passed = new WeakSet<object>()

/**
 * Marks an error as temporary: a failover, a replica that reconnects, a statement that still runs. join() retries until its
 * wait is over.
 */
export function passing<Kind extends Error>(error: Kind) {
  passed.add(error)
  return error
}

/** Whether this error is temporary: see passing(). */
export const isPassing = (error: unknown) => passed.has(error as object)

/** A store's error, as an error with one of our codes. One that already has such a code is returned unchanged. */
export function storeFailure(group: string, error: unknown) {
  if (error instanceof FlakeError) return error
  return ownStoreError(`A call to the store of group '${group}' failed. See the cause.`, error)
}

/**
 * `ERR_FLAKE_STORE`: a function of a user's own store returned an invalid answer. `what`: the bad part of it; `hint`: a
 * sentence about this value, with a space before it.
 */
export function answerError(call: string, what: string, value: unknown, wanted: string, hint: string = '') {
  return storeError(`${call}() of the store returned ${show(value)} as ${what}. It must be ${wanted}.${hint}`)
}

/** The store's last failure as a sentence, with a space before it. */
const lastFailure = (cause: unknown) => {
  const message = withoutEnd(cause instanceof FlakeError ? cause.message : said(cause ?? ''))
  return message && ` Its last failure: ${message}.`
}

/** `ERR_FLAKE_STORE`: the store does not answer. `what`: the request; `cause`: its last failure before. */
export function unansweredError(group: string, what: string, cause?: unknown) {
  const wayOut =
    cause === undefined ? ' Check that it runs and is reachable, and that no other service answers there.' : ''
  return ownStoreError(
    `The store of group '${group}' did not answer the request for ${what}.${lastFailure(cause)}${wayOut}`,
    cause,
  )
}

/** `ERR_FLAKE_STORE`: a step did not end in time. `cause`: the failure of its last swap, or that nothing answered. */
export function unfinishedError(name: string, ms: number, swaps: number, cause: unknown) {
  const tried = swaps > 0 ? ` It tried to write ${swaps} times.` : ''
  const error = ownStoreError(
    `The store of '${name}' did not finish a step within ${inMs(ms)}.${tried}${lastFailure(cause)} Check that it runs, is reachable and keeps acknowledged writes.`,
    cause,
  )
  return isPassing(cause) ? passing(error) : error
}

/**
 * `ERR_FLAKE_STORE`: two servers answer at one address, each with its own records. `shown`: the one that answered;
 * `recorded`: the one that the record names.
 */
export function twoServersError(name: string, shown: string, recorded: string) {
  return storeError(
    `Two servers alternate at the address of the store of '${name}': ${shown} answered now, and ${recorded} last wrote its record. Each change may be a loss, so no member would ever get a slot. Give all members the address of the same server, or of a proxy that sends all of them to the same one.`,
  )
}

function wrongOf({ version, needs }: RecordFault) {
  if (version === undefined) return 'cannot be read: it was cut off or edited, or another program wrote it'
  const [which, wayOut] =
    needs === undefined ? ['', 'that version'] : [`, which needs flakeforge ${needs}`, 'that or newer']
  return `was written by a newer version of flakeforge (format ${version}${which}). Use ${wayOut} here too`
}

// Older content is no way out: it does not know what was granted since, and grants it again.
const NEW_GROUP =
  'Stop all members, wait until their windows have ended (ttlMs + skewMs), delete all records of the group, and join again'
const NEW_COUNTER =
  'Stop all members, delete this record, and open the counter again with an init at or above every ID that was ever handed out'

/** `ERR_FLAKE_RECORD`: a record in a database cannot be read, so nothing is written over it. */
export function recordError(group: string, fault: RecordFault) {
  const wayOut = fault.name === 'counter' ? NEW_COUNTER : NEW_GROUP
  const message = `Record '${fault.name}' of '${group}' ${wrongOf(fault)}${fault.version === undefined ? `. ${wayOut}` : ''}.`
  return flakeError('ERR_FLAKE_RECORD', message, { group, record: fault.name })
}

/** `ERR_FLAKE_RECORD`: some slots of a group cannot be listed. `slots`: the others; `faults`: the fault of each bad one. */
export function recordsError(group: string, faults: RecordFault[], slots: object[]) {
  const texts = faults.map((fault) => recordError(group, fault).message)
  return Object.assign(recordError(group, faults[0]), { slots, faults: texts })
}

const GROUP_OPTIONS = ['fingerprint', 'slots', 'ttlMs', 'skewMs', 'durable'] as const

/** `ERR_FLAKE_CONFIG_MISMATCH`: a group was created with different options; only those that differ are named. */
export function groupMismatchError(group: string, theirs: GroupConfig, ours: GroupConfig) {
  const differing = GROUP_OPTIONS.filter((option) => theirs[option] !== ours[option])
  const describe = (side: GroupConfig) =>
    differing.map((option) => `${option === 'fingerprint' ? '' : `${option} `}${said(String(side[option]))}`).join(', ')
  return mismatchError(`Group '${group}'`, describe(theirs), describe(ours))
}

/** Warns that `create` came too late: the group already exists, and is quiet for long. */
export function warnOfQuietGroup(group: string, until: number, storeNow: number) {
  const seconds = Math.ceil((until - storeNow) / 1000)
  warn(
    'FLAKEFORGE_QUIET',
    `Group '${group}' already exists and grants no slot for ${seconds} s, until ${instant(until)}. create shortens that ` +
      'only before any process joins.',
  )
}

/** Warns that a new group is quiet for longer than `create` promises, and gives the reason. */
export function warnOfLongCreate(group: string, until: number, storeNow: number) {
  const seconds = Math.ceil((until - storeNow) / 1000)
  warn(
    'FLAKEFORGE_QUIET',
    `Group '${group}' grants no slot for ${seconds} s, because a group of this name was destroyed a moment ago or the store was just ` +
      'restarted. create waits until then.',
  )
}

const warned = new Set<string>()

/** The settings that warnOfReplicas() has named; undefined until it has warned. */
let namedSettings: Set<string> | undefined

/**
 * Warns that one of a server's replicas may be promoted while the server still answers: once per process, and again only for
 * a setting that it has not named yet. No setting rules it out. `missing` are those that would make it unlikely.
 */
export function warnOfReplicas(server: string, missing: string[]) {
  if (missing.every((setting) => namedSettings?.has(setting)) && namedSettings !== undefined) return
  namedSettings = new Set([...(namedSettings ?? []), ...missing])
  const settings =
    missing.length > 0
      ? `These settings would make that unlikely: ${missing.join('; ')}.`
      : 'Its settings make that unlikely, not impossible.'
  warn(
    'FLAKEFORGE_SPLIT_BRAIN',
    `This ${server} server has replicas. If one is promoted while this server still runs, both may grant the same slot, and ` +
      `there are duplicate IDs. ${settings} To rule it out, stop the old primary within skewMs of a promotion. Or move to one ` +
      `server without failover, or to etcd, after you have stopped all members: two stores grant the same node numbers. See ` +
      `${pageOf('docs/store/what-can-go-wrong.md')}, "One primary" and "Another store".`,
  )
}

/** Warns, once per process and text, that a group may grant the node of a function in the store's database. */
export function warnOfDatabaseFunction(group: string, found: { name: string; node: number }, slot: number) {
  const otherFunction = 'Replace the function by one of another name, with a node that no slot of the group has'
  const wayOut =
    slot > 0
      ? `${otherFunction}. Or destroy this group, and create it again with slots: ${slot} for all members`
      : otherFunction
  const message =
    `Group '${group}' may grant node ${found.node}, with which the function ${said(found.name, 60)}() of this database generates IDs. ` +
    `Both would generate equal IDs. ${wayOut}. See ${pageOf('docs/data/database-defaults.md')}.`
  if (warned.has(message)) return
  warned.add(message)
  warn('FLAKEFORGE_NODE_IN_USE', message)
}
