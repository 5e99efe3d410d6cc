'use strict'

// The parts of a transaction as etcd's JSON gateway takes them: ranges, writes and comparisons.
// It must never know what the keys mean.

const toBase64 = (text) => Buffer.from(text).toString('base64')

const between = (from, end) => ({ key: toBase64(from), range_end: toBase64(end) })
const after = (key) => `${key}\0` // the next key there can be

/** Reads one key. */
const readOne = (key) => ({ request_range: { key: toBase64(key) } })

/** Reads all keys from `first` to `last`. */
const readRun = (first, last) => ({ request_range: between(first, after(last)) })

/** Reads the keys from `from` until before `end`, without their values. */
const readKeys = (from, end) => ({ request_range: { ...between(from, end), keys_only: true } })

/** Reads the first key from `from` until before `end`, without its value. */
const readFirstKey = (from, end) => ({ request_range: { ...between(from, end), keys_only: true, limit: 1 } })

/** Reads the last key from `from` until before `end`, with its value. */
const readLast = (from, end) => ({ request_range: { ...between(from, end), limit: 1, sort_order: 'DESCEND' } })

const put = (key, value) => ({ request_put: { key: toBase64(key), value: toBase64(value) } })
const removeAll = (from, end) => ({ request_delete_range: between(from, end) })

/** Whether the key has exactly this value; an absent key has none. */
const holds = (key, value) => ({ key: toBase64(key), target: 'VALUE', result: 'EQUAL', value: toBase64(value) })

const isAbsent = (key) => ({ key: toBase64(key), target: 'CREATE', result: 'EQUAL', create_revision: '0' })

/** Whether no key from `from` until before `end` was written after this revision. */
const areOlder = (from, end, revision) => ({
  ...between(from, end),
  target: 'MOD',
  result: 'LESS',
  mod_revision: String(revision + 1),
})

module.exports = { areOlder, holds, isAbsent, put, readFirstKey, readKeys, readLast, readOne, readRun, removeAll }
