'use strict'

// Decides each step on etcd from what it read: the rules of core/src/grants.rs, as pure functions. It must never send
// anything, know a key, or look at this machine's clock.
//
// look: { now, waitedMs (until it was sent), cluster, losses, record (of the group), … what is read of the slots }
// about: { group, config, memory, … what was asked }
// plan: { record, from, to (a slot's record before and after), isKept (its etcd lease), answer or error }

const { destroyedError, exhaustedError, quietError } = require('../../errors')
const { check, newTombstone, quieted, successor, tombstone } = require('./group')

/** If a slot's window has ended but its owner lives, nobody knows when it becomes free: ask again a second later. */
const ALIVE_RETRY_MS = 1000

const grantOf = ({ slot, lo, hi }, now) => ({ slot, lo, hi, storeNow: now })

/** The answer: whether the group was made. */
function open(look, about) {
  if (look.record?.destroyed) return { record: successor(look, about.config, about.memory), answer: true }
  return { ...check(look, about), answer: look.record === undefined }
}

/** The slot to grant, in the order of the rules, or undefined. */
function candidate({ now, used, ofHost, byEnd, isAlive }, { slots, floor }) {
  const isFree = (record) => record.slot < slots && record.hi < now && !isAlive(record)
  const fresh = used < slots && floor < now ? { slot: used, hi: floor } : undefined
  return ofHost.find(isFree) ?? fresh ?? byEnd.find(isFree)
}

function retryAt({ now, used, byEnd }, { slots, floor }) {
  const ends = [...byEnd.slice(0, 1).map(({ hi }) => hi), ...(used < slots ? [floor] : [])]
  const lowest = Math.min(...ends)
  return lowest < now ? now + ALIVE_RETRY_MS : lowest + 1
}

function acquire(look, about) {
  const { group, owner, host } = about
  const { now } = look
  if (look.record?.destroyed) return { error: destroyedError(group) }
  const plan = check(look, about)
  const { record, error } = plan
  if (error) return plan
  if (now < record.quietUntil) return { ...plan, error: quietError(group, record.quietUntil, now) }
  const held = look.ofOwner.find(({ hi }) => hi >= now) // a retry, because its answer was lost
  if (held) return { ...plan, answer: grantOf(held, now) }
  const from = candidate(look, record)
  if (!from) return { ...plan, error: exhaustedError(group, retryAt(look, record), now) }
  const to = { slot: from.slot, owner, host, lo: Math.max(from.hi + 1, now), hi: now + record.ttlMs }
  return { ...plan, from, to, isKept: true, answer: grantOf(to, now) }
}

function renew(look, about) {
  const { now, held } = look
  if (look.record?.destroyed) return { answer: 'destroyed' }
  const plan = check(look, about)
  const { record, error } = plan
  if (error) return plan
  const isOwner = held !== undefined && held.owner === about.owner
  if (now < record.quietUntil) {
    // the owner lives: it keeps its slot until the quiet period is over
    return { ...plan, isKept: isOwner, error: quietError(about.group, record.quietUntil, now) }
  }
  if (!isOwner) return { ...plan, answer: 'lost' }
  // A window that has ended cannot be extended, because a later grant may be lost: its owner gets a new one.
  const lo = held.hi < now ? Math.max(held.hi + 1, now) : held.lo
  const to = { ...held, lo, hi: Math.max(held.hi, now + record.ttlMs) }
  return { ...plan, from: held, to, isKept: true, answer: grantOf(to, now) }
}

function release(look, about) {
  const { now, held } = look
  if (look.record === undefined || look.record.destroyed) return {}
  const plan = check(look, about)
  const { record, error } = plan
  if (error || held === undefined || held.owner !== about.owner) return plan
  const { owner, ...to } = held
  // during the quiet period the record may be older than another's grant, so its end stays
  if (now >= record.quietUntil) to.hi = Math.min(held.hi, Math.max(about.last, held.lo - 1))
  return { ...plan, from: held, to }
}

function destroy(look, { config, memory }) {
  const { now, record, highest } = look
  if (record?.destroyed) return {} // do not even note a loss: the next `open` would not see it
  if (record === undefined) return { record: newTombstone(look, config?.skewMs) }
  const last = quieted(record, look, memory) // the next group of this name must know about the loss too
  return { record: tombstone(last, Math.max(last.floor, highest, now)) }
}

module.exports = { open, acquire, renew, release, destroy }
