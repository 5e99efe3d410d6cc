'use strict'

// Ends a group's quiet period early, as soon as every window that may have been forgotten has ended. flakeforge itself
// always waits for the longest possible ttl; here all members have one known ttl. Calling it earlier would break the
// rules.

const { randomBytes } = require('node:crypto')
const FlakeId = require('flakeforge')
const { within } = require('./within.js')

const GROUP = 'group'
const LONGEST_MS = 30_000

/** The checksum at the end of a record: see core/src/lease/grants/record.rs. */
function checksum(text) {
  let sum = 0x811c9dc5
  for (const byte of Buffer.from(text)) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0
  return sum.toString(16).padStart(8, '0')
}

/** The same record without a quiet period. */
function withoutQuiet(text) {
  const body = text.replace(/ quiet=\d+/, ' quiet=0').replace(/ nonce=.*$/, ` nonce=${randomBytes(8).toString('hex')}`)
  return `${body} sum=${checksum(body)}`
}

/** True once the quiet period is over; false if the record was changed meanwhile. */
async function endOnce(records, group) {
  const { now, identity, values } = await records.read(group, [GROUP])
  const [text] = values
  const quietUntil = Number(/ state=live .*quiet=(\d+)/.exec(text ?? '')?.[1] ?? 0)
  return quietUntil <= now || records.swap(group, GROUP, text, withoutQuiet(text), identity)
}

/**
 * Tries until it is done: a server whose clock has stepped may refuse for a second, because it considers its replicas
 * late.
 * @param {{ records: object }} store on the server that leads now
 * @param {{ group: string }} lease the group's
 */
function endQuiet(store, lease) {
  return within(LONGEST_MS, `the quiet period of group ${lease.group} was not ended`, async () => {
    // Members may not have noticed the server's loss yet. This read does: otherwise the quiet period would begin after
    // its end.
    await FlakeId.createGroup(store, lease)
    return endOnce(store.records, lease.group)
  })
}

module.exports = { endQuiet }
