'use strict'
// @ts-check

// The parts of a transaction as etcd's JSON gateway takes them: ranges, writes and comparisons.
// It must never know what the keys mean.

/**
 * A part of a transaction, as the gateway takes it.
 * @typedef {Record<string, unknown>} Part
 */

/** @param {string} text */
const toBase64 = (text) => Buffer.from(text).toString('base64')

/**
 * @param {string} from
 * @param {string} end
 */
const between = (from, end) => ({ key: toBase64(from), range_end: toBase64(end) })
/**
 * The next key that there can be.
 * @param {string} key
 */
const after = (key) => `${key}\0`

/**
 * Reads all keys from `first` to `last`.
 * @param {string} first
 * @param {string} last
 */
const readRun = (first, last) => ({ request_range: between(first, after(last)) })

/**
 * Reads the keys from `from` until before `end`, without their values.
 * @param {string} from
 * @param {string} end
 */
const readKeys = (from, end) => ({ request_range: { ...between(from, end), keys_only: true } })

/**
 * Reads the first key from `from` until before `end`, without its value.
 * @param {string} from
 * @param {string} end
 */
const readFirstKey = (from, end) => ({ request_range: { ...between(from, end), keys_only: true, limit: 1 } })

/**
 * @param {string} key
 * @param {string} value
 */
const put = (key, value) => ({ request_put: { key: toBase64(key), value: toBase64(value) } })
/**
 * Whether the key has exactly this value; an absent key has none.
 * @param {string} key
 * @param {string} value
 */
const holds = (key, value) => ({ key: toBase64(key), target: 'VALUE', result: 'EQUAL', value: toBase64(value) })

/** @param {string} key */
const isAbsent = (key) => ({ key: toBase64(key), target: 'CREATE', result: 'EQUAL', create_revision: '0' })

module.exports = { holds, isAbsent, put, readFirstKey, readKeys, readRun }
