'use strict'

// What every step on etcd asks of the group record first: rules 1 to 5 of core/src/grants.rs.
// It must never lower quietUntil or floor, and never take a time from this machine.
//
// A loss has three signs. The group is absent. Or this client sees that the store went back: the revision is lower, or
// the record names another cluster. Or the record has another nonce than this client remembers: then somebody else
// created it again, and the lost grants are older than that (`since`). If a snapshot is restored into a cluster of the
// same name, a client that did not see the store before cannot tell, and its steps hide the loss from the others. So
// restore with a new `--initial-cluster-token`, which gives the cluster another number.

const { randomBytes } = require('node:crypto')
const { clockSkewError, groupMismatchError } = require('../../errors')

/** The longest ttl that a lost group may have had. */
const LONGEST_TTL_MS = 60_000

/** The skew for a group that was never opened here. */
const DEFAULT_SKEW_MS = 5000

/** The Date header is rounded down: the store's clock may be anywhere in that second. */
const SECOND_MS = 1000

const CONFIG_FIELDS = ['fingerprint', 'slots', 'ttlMs', 'skewMs']

const newNonce = () => randomBytes(16).toString('hex')

/** When grants that nobody remembers have surely ended. */
const unknownGrantsEnd = (now, skewMs) => now + LONGEST_TTL_MS + skewMs

/** Whether the store, or this record, is older than what was seen before. */
const isBack = (record, { cluster, losses }, memory) =>
  record.cluster !== cluster || record.since < memory.since || losses > memory.losses

/** A new record. The new nonce shows others that it is new, and `since` says from when on it knows all grants. */
const newRecord = ({ now, cluster }, { fingerprint, slots, ttlMs, skewMs }, { quietUntil, floor }) => {
  const identity = { nonce: newNonce(), since: now, cluster }
  return { fingerprint, slots, ttlMs, skewMs, quietUntil, floor, ...identity }
}

/** An absent group may be a lost one. Only a group that is created on purpose is known to be new. */
function absentRecord(look, config) {
  const quietUntil = config.create ? 0 : unknownGrantsEnd(look.now, config.skewMs) + 1
  return newRecord(look, config, { quietUntil, floor: -1 })
}

/**
 * After a tombstone: the new group starts above all grants of the old one. Members that remember the old group lose
 * nothing by the new one, so the nonce stays. But a tombstone that came back may be older than lost grants.
 */
function successor({ record: old, ...look }, config, memory) {
  const { floor, nonce, since } = old
  if (!isBack(old, look, memory))
    return { ...newRecord(look, config, { quietUntil: old.quietUntil, floor }), nonce, since }
  const quietUntil = Math.max(old.quietUntil, unknownGrantsEnd(look.now, config.skewMs) + 1)
  return newRecord(look, config, { quietUntil, floor })
}

/** What is left of a group; `floor`: the highest end that it granted. */
const tombstone = ({ quietUntil, nonce, since, cluster }, floor) => ({
  destroyed: true,
  floor,
  quietUntil,
  nonce,
  since,
  cluster,
})

/** The tombstone for a group that is absent, and may be lost. */
function newTombstone(look, skewMs = 0) {
  const floor = unknownGrantsEnd(look.now, Math.max(skewMs, DEFAULT_SKEW_MS))
  return tombstone(newRecord(look, {}, { quietUntil: 0 }), floor)
}

/** The record after rule 4: with a quiet period if grants may be lost. */
function quieted(record, look, memory) {
  const { now, cluster } = look
  const until = (since) => Math.max(record.quietUntil, since + record.ttlMs + record.skewMs + 1)
  if (isBack(record, look, memory)) {
    return { ...record, nonce: newNonce(), since: now, cluster, quietUntil: until(now) }
  }
  const isOther = memory.nonce !== undefined && memory.nonce !== record.nonce
  const quietUntil = isOther ? until(record.since) : record.quietUntil
  return quietUntil > Math.max(now, record.quietUntil) ? { ...record, quietUntil } : record
}

const hasOtherOptions = (theirs, ours) => CONFIG_FIELDS.some((field) => theirs[field] !== ours[field])

/** How far the client's clock is from the second that the store's clock is in; 0 within it. */
const skewOf = (clientNow, now) => Math.min(clientNow - now, 0) + Math.max(clientNow - now - SECOND_MS + 1, 0)

/**
 * The group's record as a step must leave it, and the error if the step ends here; the record is written even then.
 * Each step handles a destroyed group itself. `clientNow`: for the steps that compare clocks.
 */
function check(look, { group, config, memory, clientNow }) {
  if (look.record === undefined) return withClock(absentRecord(look, config), look, clientNow)
  if (hasOtherOptions(look.record, config)) return { error: groupMismatchError(group, look.record, config) }
  return withClock(quieted(look.record, look, memory), look, clientNow)
}

function withClock(record, { now, waitedMs }, clientNow) {
  // the time that an earlier attempt or another endpoint took is not skew
  const skew = clientNow === undefined ? 0 : skewOf(clientNow + waitedMs, now)
  return Math.abs(skew) > record.skewMs ? { record, error: clockSkewError(skew, record.skewMs) } : { record }
}

module.exports = { newNonce, quieted, successor, tombstone, newTombstone, check }
