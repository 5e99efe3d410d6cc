'use strict'

// Ends a group's quiet period early, as soon as every window that may have been forgotten is over. flakeforge itself always
// waits for the longest ttl there is; here all members have one ttl, and it is known. It must never be called before that.

const { randomBytes } = require('node:crypto')
const { setTimeout: sleep } = require('node:timers/promises')

const GROUP = 'group'
const ATTEMPTS = 100

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

/** True once the quiet period is over; false where somebody else changed the record meanwhile. */
async function endOnce(records, group) {
  const { now, identity, values } = await records.read(group, [GROUP])
  const [text] = values
  const quietUntil = Number(/ state=live .*quiet=(\d+)/.exec(text ?? '')?.[1] ?? 0)
  return quietUntil <= now || records.swap(group, GROUP, text, withoutQuiet(text), identity)
}

/**
 * A server whose clock has stepped may refuse for a second, because it takes its replicas for late.
 * @param records a RecordStore on the server that leads now
 */
async function endQuiet(records, group) {
  let cause
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      if (await endOnce(records, group)) return
    } catch (error) {
      if (error.code !== 'ERR_FLAKE_STORE') throw error
      cause = error
      await sleep(100)
    }
  }
  throw new Error(`the quiet period of group ${group} was not ended in ${ATTEMPTS} attempts`, { cause })
}

module.exports = { endQuiet }
