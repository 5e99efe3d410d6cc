'use strict'

// Every error of flakeforge is made here, with a stable `code` and a message that names the value, the bound and what
// to do. Codes never change their meaning; messages may.

const { isDate } = require('node:util').types
const { unixNow } = require('./timers.js')

function flakeError(Type, code, message, { cause, ...fields } = {}) {
  return Object.assign(cause === undefined ? new Type(message) : new Type(message, { cause }), { code }, fields)
}

/** How a value looks in a message: short, and text in quotes. */
function show(value) {
  if (typeof value === 'string') return value.length > 60 ? `'${value.slice(0, 60)}…'` : `'${value}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (isDate(value)) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
  if (Array.isArray(value)) return showArray(value)
  if (typeof value === 'object' && value !== null) return showObject(value)
  return String(value)
}

/** A short array in full; its items may be arrays too. */
function showArray(array) {
  const text = array.length > 8 ? '' : `[${array.map(show).join(', ')}]`
  return text === '' || text.length > 60 ? `an array of ${array.length}` : text
}

function showObject(object) {
  const { name } = object.constructor ?? {}
  return name === undefined || name === 'Object' ? 'an object' : `an object of class ${name}`
}

/** `ERR_FLAKE_OPTION`: an option or argument of the wrong type. `wanted` says what it must be. */
function optionTypeError(option, value, wanted) {
  return optionError(TypeError, option, value, `${option} must be ${wanted}, but is ${show(value)}`)
}

/** `ERR_FLAKE_OPTION`: an option or argument of the right type that is out of its bounds. */
function optionRangeError(option, value, wanted) {
  return optionError(RangeError, option, value, `${option} must be ${wanted}, but is ${show(value)}`)
}

/** `ERR_FLAKE_OPTION`: an option that does not go with the others. `why` follows the words `cannot be used`. */
function unusableOptionError(option, value, why) {
  return optionError(TypeError, option, value, `${option} (${show(value)}) cannot be used ${why}`)
}

/** `ERR_FLAKE_OPTION`, if none of the usual sentences fits. */
function optionError(Type, option, value, message) {
  return flakeError(Type, 'ERR_FLAKE_OPTION', message, { option, value })
}

/** `ERR_FLAKE_LOAD`: the native addon cannot be loaded. `why`: what the cause is, and what to do. */
function loadError(why, cause) {
  return flakeError(Error, 'ERR_FLAKE_LOAD', `flakeforge could not load its native addon. ${why}`, { cause })
}

/** `ERR_FLAKE_OPTION`: a key that is not an option; it may be misspelt. `kind`: what it should have been. */
function unknownOptionError(option, value, known, kind = 'option') {
  return optionError(TypeError, option, value, unknown(kind, option, known))
}

/** `ERR_FLAKE_OPTION`: no layout has this name. */
function unknownLayoutError(name, known) {
  const message = `${unknown('layout', name, known)} Fields of your own are { epoch, tickMs, fields }.`
  return optionError(RangeError, 'layout', name, message)
}

/** Suggests the name that was probably meant, or lists all names if none is close. */
function unknown(kind, name, known) {
  const { nearest } = require('./nearest.js') // for errors only
  const meant = nearest(name, known)
  const hint = meant === undefined ? `The ${kind}s are ${known.join(', ')}.` : `Did you mean '${meant}'?`
  return `Unknown ${kind} ${show(name)}. ${hint}`
}

const HOMELESS =
  "Name one: set FLAKEFORGE_STORE=file:/var/lib/…, call join('file:/var/lib/…'), or set XDG_STATE_HOME to an absolute path"

/** Why there is no default folder here, and what to do instead. */
const NO_DEFAULT_FOLDER = {
  container: (sign) =>
    `No store is named, and this process runs in a container (${sign}), where there is no default: each container would ` +
    'have a folder of its own, and two of them would make the same IDs. Set FLAKEFORGE_STORE=redis://HOST (or ' +
    "postgres://…, etcd://…), call join('redis://HOST'), or mount one volume in all containers and name a folder in it: " +
    'FLAKEFORGE_STORE=file:/var/lib/…',
  homeless: () =>
    `No store is named, and there is no default folder, because this user has no home folder. ${HOMELESS}`,
  relative: (home) =>
    'No store is named, and there is no default folder, because the home folder must be an absolute path, but is ' +
    `${show(home)}. ${HOMELESS}`,
}

/**
 * `ERR_FLAKE_OPTION`: no store was named, and there is no default. `kind`: 'container', 'homeless' or 'relative';
 * `found`: the sign of a container, or the path of the home folder.
 */
function noDefaultFolderError(kind, { found, cause } = {}) {
  const message = NO_DEFAULT_FOLDER[kind](found)
  return flakeError(TypeError, 'ERR_FLAKE_OPTION', message, { option: 'store', value: undefined, cause })
}

/** `ERR_FLAKE_OPTION`: options were given in place of the store. `call`: the function that was called. */
function optionsFirstError(call, options) {
  const keys = Object.keys(options).join(', ')
  const message =
    `The first argument of ${call}() is the store, and options are the second. ${call}(undefined, { ${keys} }) takes the ` +
    'default store.'
  return optionError(TypeError, 'store', options, message)
}

/** The same error, but the environment named the store. */
function variableError(error) {
  const message = `The environment variable FLAKEFORGE_STORE cannot be used: ${error.message}`
  const { code, option, value, cause } = error
  return flakeError(error.constructor, code, message, { cause, ...(option && { option, value }) })
}

/** `ERR_FLAKE_ID`: a value that is not an ID. `wanted` says what an ID looks like. */
function idError(value, wanted) {
  return flakeError(TypeError, 'ERR_FLAKE_ID', `${show(value)} is not ${wanted}`, { value })
}

const inMs = (ms) => `${Number(ms.toPrecision(3))} ms`
const instant = (ms) => (Math.abs(ms) <= 8.64e15 ? `${new Date(ms).toISOString()} (${ms})` : String(ms))

/** `ERR_FLAKE_OVERFLOW`: the tick's counter is used up. */
function overflowError(retryAfterMs, perTick) {
  const message =
    `All ${perTick} IDs of this tick are used up. The next one can be made in ${inMs(retryAfterMs)}. ` +
    'next(callback) and nextAsync() wait for it, and so does next() if maxWaitMs allows it.'
  return flakeError(Error, 'ERR_FLAKE_OVERFLOW', message, { retryAfterMs: Math.ceil(retryAfterMs) })
}

/** `ERR_FLAKE_CLOCK_BACKWARDS`: the clock is behind the last ID. */
function clockBackwardsError(behindMs, retryAfterMs) {
  const message =
    `The clock is ${inMs(behindMs)} behind the last ID. The next one can be made in ${inMs(retryAfterMs)}. ` +
    'next(callback) and nextAsync() wait for it. With maxAheadMs, IDs may run ahead of the clock.'
  return flakeError(Error, 'ERR_FLAKE_CLOCK_BACKWARDS', message, { behindMs, retryAfterMs: Math.ceil(retryAfterMs) })
}

/** `ERR_FLAKE_TIME_RANGE`: the layout cannot express the time. */
function timeRangeError(timestamp, layout) {
  const [first, end] = [layout.epoch, layout.end.getTime()]
  const isEarly = timestamp < (first + end) / 2 // an idOffset moves both ends
  const message = isEarly
    ? `The time ${instant(timestamp)} is before the epoch ${instant(first)}. Set the clock, or use an earlier epoch.`
    : `The time ${instant(timestamp)} is too late for layout '${layout.name}', which ends at ${instant(end)}. ` +
      'Use a later epoch.'
  return flakeError(RangeError, 'ERR_FLAKE_TIME_RANGE', message, { timestamp })
}

/** `ERR_FLAKE_OPTION`: a client of the right kind that a store cannot use. `why` says what is wrong and what to do. */
function clientError(client, why) {
  return flakeError(TypeError, 'ERR_FLAKE_OPTION', `A store cannot use this client. ${why}`, {
    option: 'client',
    value: client,
  })
}

/** `ERR_FLAKE_CONFIG_MISMATCH`: two sides must agree but do not. `where`: the file or group; both sides are text. */
function mismatchError(where, theirs, ours) {
  const message = `${where} was made with other options: it has ${theirs}, and this generator ${ours}. Use the options that it was made with.`
  return flakeError(Error, 'ERR_FLAKE_CONFIG_MISMATCH', message, { theirs, ours })
}

const GROUP_OPTIONS = ['fingerprint', 'slots', 'ttlMs', 'skewMs', 'durable']

/** `ERR_FLAKE_CONFIG_MISMATCH`: a group was made with other options; only those that differ are named. */
function groupMismatchError(group, theirs, ours) {
  const differing = GROUP_OPTIONS.filter((option) => theirs[option] !== ours[option])
  const describe = (side) => differing.map((option) => `${option} ${side[option]}`).join(', ')
  return mismatchError(`group '${group}'`, describe(theirs), describe(ours))
}

/** `ERR_FLAKE_FILE`: a shared or slot file cannot be used. `why` says what is wrong and what to do. */
function fileError(path, why, cause) {
  return flakeError(Error, 'ERR_FLAKE_FILE', `${path}: ${why}`, { path, cause })
}

const LEASED = 'a lease' // as core/src/generator/registry.rs calls it

/** `ERR_FLAKE_CONFIG_MISMATCH`: one node number would get two cursors in this process. */
function clashError(node, theirs, ours) {
  const wayOut =
    theirs === LEASED
      ? 'Use another node number, or make this generator before join(), which then takes another slot. The number is free ' +
        'again after close() and the end of its window.'
      : 'Use only one of the two, or another node number.'
  const message =
    `${node} already takes its numbers from ${theirs} in this process. If it also took them from ${ours}, there would be ` +
    `equal IDs. ${wayOut}`
  return flakeError(Error, 'ERR_FLAKE_CONFIG_MISMATCH', message, { theirs, ours })
}

/**
 * The error for what the addon reports: a bad file, or two sides that do not agree. `where`: what a mismatch is about.
 */
function problemError({ theirs, ours, path, why }, where) {
  if (why !== undefined) return fileError(path, why)
  return path === undefined ? clashError(where, theirs, ours) : mismatchError(path, theirs, ours)
}

/**
 * `ERR_FLAKE_FILE`: files of a group cannot be read. `slots`: what the other files say; `faults`: what is wrong with
 * each bad one.
 */
function rosterError(faults, slots) {
  const [first, ...others] = faults.map((fault) => problemError(fault))
  return Object.assign(first, { slots, faults: [first.message, ...others.map(({ message }) => message)] })
}

/** `ERR_FLAKE_STORE`: a call to a store failed. It has no cause if the store answered and refused. */
function storeError(why, cause) {
  return flakeError(Error, 'ERR_FLAKE_STORE', why, { cause })
}

/**
 * `ERR_FLAKE_STORE`: a function of a user's own store gave an answer that it must not give. `what`: the bad part of it;
 * `hint`: a sentence about this value, with a space before it.
 */
function answerError(call, what, value, wanted, hint = '') {
  return storeError(`${call}() of the store gave ${show(value)} as ${what}. It must be ${wanted}.${hint}`)
}

const SKIP = 'Call skipTo(n) with an n above every ID that was ever handed out.'

/** Why a store gives no block; the keys are the words that its step answers with. */
const COUNTER_REFUSALS = {
  gone: (name) => `The store no longer has this counter '${name}'. It was removed, and perhaps made again. ${SKIP}`,
  behind: (name) =>
    `The store may have lost blocks of counter '${name}' in a restart, a failover or a restored backup. ${SKIP}`,
  full: (name, value) =>
    `Counter '${name}' is at ${value}, and the next block would end above 2^64 - 1. Use another counter, or a smaller block.`,
}

/**
 * `ERR_FLAKE_STORE`: a counter gives no block. `why`: 'gone', 'behind' or 'full'; `value`: the counter's present value.
 */
function counterError(why, name, value) {
  return storeError(COUNTER_REFUSALS[why](name, value))
}

/** `ERR_FLAKE_STORE`: a counter is below the numbers that it has already given. */
function wentBackError(name, value, known) {
  return storeError(
    `Counter '${name}' is at ${value}, but it has already given IDs up to ${known}. So the store has lost some. ${SKIP}`,
  )
}

/** `ERR_FLAKE_CONFIG_MISMATCH`: the members of a counter vouch for its store, or they do not; this one says otherwise. */
function counterMismatchError(name, durable) {
  return mismatchError(`counter '${name}'`, `durable ${durable}`, `durable ${!durable}`)
}

/** `ERR_FLAKE_STORE`: a step did not end in time. `cause`: what its last swap failed with, or that nothing answered. */
function unfinishedError(name, ms, swaps, cause) {
  const tried = swaps > 0 ? ` It tried to write ${swaps} times.` : ''
  return storeError(
    `The store of '${name}' did not finish a step within ${inMs(ms)}.${tried} Check that it runs, can be reached and keeps what it says it wrote.`,
    cause,
  )
}

const wrongOf = ({ version }) =>
  version === undefined
    ? 'cannot be read: it was cut off or edited, or something else wrote it'
    : `was written by a newer version of flakeforge (format ${version}). Use that version here too`

/**
 * `ERR_FLAKE_RECORD`: a record in a database cannot be read, so nothing is written over it. `fault`: its name, and the
 * version of its format if that is newer.
 */
function recordError(group, fault) {
  const wayOut =
    fault.version === undefined
      ? '. Put back what it was. Or stop all members, wait 65 s, delete all records of the group, and join again'
      : ''
  const message = `Record '${fault.name}' of '${group}' ${wrongOf(fault)}${wayOut}.`
  return flakeError(Error, 'ERR_FLAKE_RECORD', message, { group, record: fault.name })
}

/** `ERR_FLAKE_RECORD`: some slots of a group cannot be listed. `slots`: the others; `faults`: what is wrong with each. */
function recordsError(group, faults, slots) {
  const texts = faults.map((fault) => recordError(group, fault).message)
  return Object.assign(recordError(group, faults[0]), { slots, faults: texts })
}

/** `ERR_FLAKE_RECORD`: version 0.1 left a living group of this name, which this version cannot see. */
function olderGroupError(group) {
  const message =
    `Group '${group}' was made by flakeforge 0.1, whose members this version cannot see. Stop them, end the group with ` +
    `\`npx flakeforge destroy\`, and join again.`
  return flakeError(Error, 'ERR_FLAKE_RECORD', message, { group })
}

/** `ERR_FLAKE_STORE`: version 0.1 left a counter of this name. `value`: where it stood. */
function olderCounterError(name, value) {
  return storeError(
    `Counter '${name}' was made by flakeforge 0.1 and stood at ${value}. Stop all programs that use it there. Then call skipTo(n) with ` +
      'an n of at least that.',
  )
}

/** Warns that a new group is quiet for longer than `create` promises, and why. */
function warnOfLongCreate(group, until, storeNow) {
  const seconds = Math.ceil((until - storeNow) / 1000)
  process.emitWarning(
    `Group '${group}' grants nothing for ${seconds} s, because a group of this name ended a moment ago or the store was just ` +
      'restarted. create waits for that.',
    { code: 'FLAKEFORGE_QUIET' },
  )
}

/** What a store threw, as an error with one of our codes. It is returned unchanged if it has one already. */
function storeFailure(group, error) {
  return error?.code?.startsWith?.('ERR_FLAKE_')
    ? error
    : storeError(`A call to the store of group '${group}' failed. The cause says why.`, error)
}

/** `ERR_FLAKE_OVERFLOW`: fewer IDs are left than were asked for, and the next block is on its way. */
function blocksUsedUpError(name, block, wanted, here) {
  const message =
    `${wanted} IDs of counter '${name}' were asked for, but only ${here} are here. The next block arrives in a later turn of ` +
    `the event loop. next(callback), nextAsync() and takeAsync() wait for it. A block larger than ${block} lasts longer.`
  return flakeError(Error, 'ERR_FLAKE_OVERFLOW', message, { retryAfterMs: 1 })
}

/** `ERR_FLAKE_DETACHED`: a member of a counter was closed. */
function closedError(name) {
  return flakeError(
    Error,
    'ERR_FLAKE_DETACHED',
    `This generator of counter '${name}' is closed. SegmentId.open() makes another one.`,
  )
}

/** `ERR_FLAKE_EXHAUSTED`: every slot has a holder. `retryAt`, `storeNow`: Unix ms by the store's clock. */
function exhaustedError(group, retryAt, storeNow) {
  const message =
    `No slot of group '${group}' becomes free before ${instant(retryAt)}. Call close() on generators that are no longer ` +
    'used, make the group with more slots, or wait longer (waitMs).'
  return flakeError(Error, 'ERR_FLAKE_EXHAUSTED', message, { group, retryAt: new Date(retryAt), storeNow })
}

/**
 * `ERR_FLAKE_EXHAUSTED`: every free slot has a node number that is in use in this process. `inUse`: what uses it;
 * `refusal`: the store's answer when it was asked for another slot, if it was.
 */
function inUseError(group, inUse, refusal) {
  const message =
    `Every free slot of group '${group}' has a node number that this process already uses. Give the other generators of this ` +
    `process other node numbers, or make the group with more slots. (${inUse.message})`
  const { retryAt = new Date(unixNow()), storeNow } = refusal ?? {}
  return flakeError(Error, 'ERR_FLAKE_EXHAUSTED', message, { cause: inUse, group, retryAt, storeNow })
}

/** `ERR_FLAKE_QUIET`: the store may have lost grants, and waits until the last of them is over. */
function quietError(group, until, storeNow) {
  const message =
    `Group '${group}' is new on this store, or the store may have lost what it granted. It grants nothing before ` +
    `${instant(until)}. A new group has no such wait if \`npx flakeforge create\` makes it before anybody joins.`
  return flakeError(Error, 'ERR_FLAKE_QUIET', message, { group, retryAt: new Date(until), storeNow })
}

/** The warning while join() waits for such a store. `create`: the command that makes the group without the wait. */
function quietWarning(group, { retryAt, storeNow }, create) {
  const seconds = Math.ceil((retryAt - storeNow) / 1000)
  return (
    `Group '${group}' is new on this store, or the store may have lost what it granted. It grants nothing for ${seconds} s, ` +
    `until ${instant(retryAt)}. If you know that a group is new, make it before anybody joins, and nobody waits: ${create}`
  )
}

/** `ERR_FLAKE_CLOCK_SKEW`: this machine's clock and the store's are too far apart. */
function clockSkewError(skewMs, bound) {
  const message =
    `The clock of this machine is ${inMs(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} the store's clock. ` +
    `skewMs allows ${bound} ms. Set the clocks, for example with NTP.`
  return flakeError(Error, 'ERR_FLAKE_CLOCK_SKEW', message, { skewMs })
}

/** `ERR_FLAKE_CLOCK_SKEW`: the window that was granted begins after the end of the wait. */
function aheadError(group, aheadMs) {
  const message =
    `The window that the store granted to group '${group}' begins in ${inMs(aheadMs)} by the clock of this machine, which is ` +
    'later than waitMs allows. Set the clock, for example with NTP, or wait longer (waitMs).'
  return flakeError(Error, 'ERR_FLAKE_CLOCK_SKEW', message, { group, skewMs: -aheadMs })
}

/** `ERR_FLAKE_STORE`: a store that does not answer. `what`: what it was asked for; `cause`: its last failure before. */
function unansweredError(group, what, cause) {
  return storeError(
    `The store of group '${group}' was asked for ${what} and did not answer. Check that it runs and can be reached.`,
    cause,
  )
}

/** `ERR_FLAKE_STORE`: it is unknown whether the slot was given back. */
function unreleasedError(group, slot, tookMs) {
  return storeError(
    `The store of group '${group}' did not confirm within ${inMs(tookMs)} that slot ${slot} was given back. The slot becomes ` +
      'free when its window ends, after ttlMs at the latest.',
  )
}

/** `ERR_FLAKE_LEASE_EXPIRED`: the window is over and was not renewed. */
function leaseExpiredError(group, slot, cause) {
  const message =
    `The window of slot ${slot} in group '${group}' is over and could not be renewed. IDs can be made again when the store ` +
    'answers. next(callback) and nextAsync() wait for it.'
  return flakeError(Error, 'ERR_FLAKE_LEASE_EXPIRED', message, { group, slot, cause })
}

/** `ERR_FLAKE_OVERFLOW`: the window is used up or has ended, and the next one is on its way. */
function windowEndError(group, slot, retryAfterMs) {
  const message =
    `The window of slot ${slot} in group '${group}' is used up. The next one arrives in a later turn of the event loop. ` +
    'next(callback) and nextAsync() wait for it.'
  return flakeError(Error, 'ERR_FLAKE_OVERFLOW', message, { retryAfterMs, group, slot })
}

/** `ERR_FLAKE_LEASE_EXPIRED`: the store no longer knows this member as the slot's holder. `cause`: what went before. */
function lostError(group, slot, cause) {
  const message =
    `The store no longer has this generator as the holder of slot ${slot} in group '${group}'. Its window was over and ` +
    'another process took the slot, or the record or file of the slot was removed.'
  return flakeError(Error, 'ERR_FLAKE_LEASE_EXPIRED', message, { group, slot, cause })
}

/** `ERR_FLAKE_DETACHED`: it has no slot at present. `cause`: why, unless the user asked for it. */
function detachedError(group, isReturning, cause) {
  const message = isReturning
    ? `The generator of group '${group}' lost its slot and is getting another. next(callback) and nextAsync() wait for it.`
    : `The generator of group '${group}' is detached. attach() gets it a slot again.`
  return flakeError(Error, 'ERR_FLAKE_DETACHED', message, { group, slot: undefined, cause })
}

/** `ERR_FLAKE_DETACHED`: a generator that was closed for good. */
function closedLeaseError(group) {
  const message = `This generator of group '${group}' is closed. join() makes another one.`
  return flakeError(Error, 'ERR_FLAKE_DETACHED', message, { group, slot: undefined })
}

/** `ERR_FLAKE_DESTROYED`: the group was ended, for every member. */
function destroyedError(group) {
  const message = `Group '${group}' was destroyed. Calling join() again makes a new one.`
  return flakeError(Error, 'ERR_FLAKE_DESTROYED', message, { group, slot: undefined })
}

module.exports = {
  optionTypeError,
  optionRangeError,
  unusableOptionError,
  optionError,
  unknownOptionError,
  unknownLayoutError,
  loadError,
  noDefaultFolderError,
  optionsFirstError,
  variableError,
  clientError,
  idError,
  overflowError,
  clockBackwardsError,
  timeRangeError,
  mismatchError,
  groupMismatchError,
  fileError,
  problemError,
  rosterError,
  storeError,
  answerError,
  storeFailure,
  counterError,
  wentBackError,
  counterMismatchError,
  unfinishedError,
  recordError,
  recordsError,
  olderGroupError,
  olderCounterError,
  warnOfLongCreate,
  blocksUsedUpError,
  closedError,
  exhaustedError,
  inUseError,
  quietError,
  quietWarning,
  clockSkewError,
  aheadError,
  unansweredError,
  unreleasedError,
  leaseExpiredError,
  windowEndError,
  lostError,
  detachedError,
  closedLeaseError,
  destroyedError,
}
