'use strict'
// @ts-check

// The statements that read. They must never change anything, nor read the clock before the records.

const { HISTORY, OWN_GROUP, PROCESS, STATE } = require('./server.js')
const { HINTS, SETTINGS, bytes } = require('./text.js')

/**
 * The server and the records of a group that have these names, as one snapshot.
 * @param {string} group
 * @param {readonly string[]} names
 */
const readRecords = (group, names) => `${SETTINGS}
SELECT ${HINTS} ${bytes('server')}, ${HISTORY}, ${PROCESS}, ${STATE}
UNION ALL
SELECT ${bytes('record')}, name, value, NULL FROM flakeforge_record
WHERE group_name = ${bytes(group)} AND name IN (${names.map(bytes).join(', ')})`

/**
 * The server's clock as Unix ms, for a statement after the one that reads: NOW() and UTC_TIMESTAMP() tell when a statement
 * began, perhaps long before it had the locks that it waited for; SYSDATE() does too on some servers.
 */
const CLOCK = `${SETTINGS}
SELECT ${HINTS} TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', SYSDATE(6)) DIV 1000`

/** @param {string} group */
const readNames = (group) => `${SETTINGS}
SELECT ${HINTS} name FROM flakeforge_record WHERE group_name = ${bytes(group)}`

const GROUPS = `${SETTINGS}
SELECT ${HINTS} DISTINCT group_name FROM flakeforge_record WHERE group_name <> ${OWN_GROUP}`

module.exports = { readRecords, CLOCK, readNames, GROUPS }
