'use strict'

// What every step on etcd asks of the group record first: rules 1 to 5 of core/src/grants.rs.
// It must never lower quietUntil or floor, and never take a time from this machine.
//
// A loss shows by three signs. The group is absent. Or this client sees that the store went back: a lower revision, or
// another cluster than the record names. Or the record carries another nonce than this client remembers: then somebody
// else made it anew, and what was lost was granted before that (`since`).
// A client that never saw the store before a snapshot was restored into a cluster of the same name cannot tell, and its
// steps hide the loss from the others: so restore into a new `--initial-cluster-token`, which gives another number.

const { randomBytes } = require('node:crypto')
const { clockSkewError, groupMismatchError } = require('../../errors')

/** The longest ttl that a lost group may have had. */
const LONGEST_TTL_MS = 60_000

/** The skew of a group that was never opened here. */
const DEFAULT_SKEW_MS = 5000

/** The Date header is rounded down: the store's clock may stand anywhere in that second. */
const SECOND_MS = 1000

const CONFIG_FIELDS = ['fingerprint', 'slots', 'ttlMs', 'skewMs']

const newNonce = () => randomBytes(16).toString('hex')

/** How long grants that nobody remembers may still run. */
const unknownGrantsEnd = (now, skewMs) => now + LONGEST_TTL_MS + skewMs

/** Whether the store, or this record, is older than what was seen before. */
const isBack = (record, { cluster, losses }, memory) =>
  record.cluster !== cluster || record.since < memory.since || losses > memory.losses

/** A new record. The fresh nonce shows the others that it is new, and `since` from when on it knows all grants. */
const newRecord = ({ now, cluster }, { fingerprint, slots, ttlMs, skewMs }, { quietUntil, floor }) => {
  const identity = { nonce: newNonce(), since: now, cluster }
  return { fingerprint, slots, ttlMs, skewMs, quietUntil, floor, ...identity }
}

/** An absent group may be a lost one; only one that is made on purpose is known to be new. */
function absentRecord(look, config) {
  const quietUntil = config.create ? 0 : unknownGrantsEnd(look.now, config.skewMs) + 1
  return newRecord(look, config, { quietUntil, floor: -1 })
}

/**
 * After a tombstone: above all that the old group was granted. Members that remember the old group need not fear for
 * the new one, so the nonce stays; but a tombstone that came back may be older than grants that are lost.
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

/** Of a group that is not there, and may be a lost one. */
function newTombstone(look, skewMs = 0) {
  const floor = unknownGrantsEnd(look.now, Math.max(skewMs, DEFAULT_SKEW_MS))
  return tombstone(newRecord(look, {}, { quietUntil: 0 }), floor)
}

/** The record after rule 4: with a quiet period where grants may be lost. */
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
 * The group's record as a step must leave it, and the error where the step ends here: what is written stays.
 * A destroyed group is each step's own affair. `clientNow`: for the steps that compare clocks.
 */
function check(look, { group, config, memory, clientNow }) {
  if (look.record === undefined) return withClock(absentRecord(look, config), look, clientNow)
  if (hasOtherOptions(look.record, config)) return { error: groupMismatchError(group, look.record, config) }
  return withClock(quieted(look.record, look, memory), look, clientNow)
}

function withClock(record, { now, waitedMs }, clientNow) {
  // an earlier attempt, or another endpoint, may have taken its time: that is no skew
  const skew = clientNow === undefined ? 0 : skewOf(clientNow + waitedMs, now)
  return Math.abs(skew) > record.skewMs ? { record, error: clockSkewError(skew, record.skewMs) } : { record }
}

module.exports = { newNonce, quieted, successor, tombstone, newTombstone, check }
