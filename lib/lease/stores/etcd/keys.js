'use strict'
// @ts-check

// The keys of records on etcd: `flakeforge/records/<group>/<name>`.
// It must never let one group's keys begin like another's.

const RECORDS = 'flakeforge/records/'

/**
 * A name as one part of a key; JSON keeps lone surrogates distinct, which UTF-8 does not.
 * @param {string} name
 */
const part = (name) => encodeURIComponent(JSON.stringify(name).slice(1, -1))

/**
 * All keys of a group begin so.
 * @param {string} group
 */
const groupPrefix = (group) => `${RECORDS}${part(group)}/`

/**
 * @param {string} group
 * @param {string} name
 */
const recordKey = (group, name) => groupPrefix(group) + name

/**
 * The group of a record's key.
 * @param {string} key
 * @returns {string}
 */
const groupOf = (key) => JSON.parse(`"${decodeURIComponent(key.slice(RECORDS.length).split('/')[0])}"`)

/**
 * The name of a record's key.
 * @param {string} key
 */
const nameOf = (key) => key.slice(key.lastIndexOf('/') + 1)

/**
 * The first text after all texts with this prefix, which ends in '/': '0' is the next character.
 * @param {string} prefix
 */
const endOf = (prefix) => `${prefix.slice(0, -1)}0`

module.exports = { RECORDS, endOf, groupOf, groupPrefix, nameOf, recordKey }
