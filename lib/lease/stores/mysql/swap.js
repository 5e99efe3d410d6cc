'use strict'
// @ts-check

// The statements that write. Each is one autocommit statement that compares the record's bytes and the server's identity
// and then writes, or changes nothing. They must never write inside the user's transaction.

const { HISTORY, NAME, PROCESS, TAKES_WRITES } = require('./server.js')
const { HINTS, SETTINGS, bytes } = require('./text.js')

/**
 * @import { StoreIdentity } from '../../../../types/stores.d.ts'
 */

/** @param {StoreIdentity} identity */
const isServer = ({ history, process }) => `${HISTORY} = ${bytes(history)} AND ${PROCESS} = ${bytes(process)}
  AND ${TAKES_WRITES} AND @@autocommit = 1 /*M!100100 AND @@in_transaction = 0 */`

/**
 * A record that is there already is an error (1062), which changes nothing.
 * @param {string} group
 * @param {string} name
 * @param {string} to
 * @param {StoreIdentity} identity
 */
const insert = (group, name, to, identity) => `${SETTINGS}
INSERT ${HINTS} INTO flakeforge_record (group_name, name, value)
SELECT ${bytes(group)}, ${bytes(name)}, ${bytes(to)} FROM DUAL
WHERE ${isServer(identity)}`

/**
 * A client may count rows that were found or rows that were changed: they are the same, because the text changes.
 * @param {string} group
 * @param {string} name
 * @param {string} from
 * @param {string} to
 * @param {StoreIdentity} identity
 */
const update = (group, name, from, to, identity) => `${SETTINGS}
UPDATE ${HINTS} flakeforge_record SET value = ${bytes(to)}
WHERE group_name = ${bytes(group)} AND name = ${bytes(name)} AND value = ${bytes(from)}
  AND ${bytes(from)} <> ${bytes(to)}
  AND ${isServer(identity)}`

/**
 * Gives this run of the server its random text, unless it has one.
 * @param {string} nonce
 */
const nameProcess = (nonce) => `${SETTINGS}
INSERT ${HINTS} IGNORE INTO flakeforge_process (server, nonce) VALUES (CAST(${NAME} AS BINARY), ${bytes(nonce)})`

module.exports = { insert, update, nameProcess }
