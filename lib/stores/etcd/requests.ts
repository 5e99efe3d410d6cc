// The parts of a transaction in the form of etcd's JSON gateway: ranges, writes and comparisons.

/** A part of a transaction. */
export type Part = Record<string, unknown>

const toBase64 = (text: string) => Buffer.from(text).toString('base64')

const between = (from: string, end: string) => ({ key: toBase64(from), range_end: toBase64(end) })
/** The next possible key. */
const after = (key: string) => `${key}\0`

/** Reads all keys from `first` to `last`. */
export const readRun = (first: string, last: string) => ({ request_range: between(first, after(last)) })

/** Reads the keys from `from` until before `end`, without their values. */
export const readKeys = (from: string, end: string) => ({ request_range: { ...between(from, end), keys_only: true } })

/** Reads the first key from `from` until before `end`, without its value. */
export const readFirstKey = (from: string, end: string) => ({
  request_range: { ...between(from, end), keys_only: true, limit: 1 },
})

export const put = (key: string, value: string) => ({ request_put: { key: toBase64(key), value: toBase64(value) } })
/** Whether the key has exactly this value; an absent key has none. */
export const holds = (key: string, value: string) => ({
  key: toBase64(key),
  target: 'VALUE',
  result: 'EQUAL',
  value: toBase64(value),
})

export const isAbsent = (key: string) => ({
  key: toBase64(key),
  target: 'CREATE',
  result: 'EQUAL',
  create_revision: '0',
})
