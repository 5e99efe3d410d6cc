// The keys of records on etcd: `flakeforge/records/<group>/<name>`. No group's keys are a prefix of another's.

export const RECORDS = 'flakeforge/records/'

/** A name as one part of a key; JSON keeps lone surrogates distinct, which UTF-8 does not. */
const part = (name: string) => encodeURIComponent(JSON.stringify(name).slice(1, -1))

/** The prefix of all keys of a group. */
export const groupPrefix = (group: string) => `${RECORDS}${part(group)}/`

export const recordKey = (group: string, name: string) => groupPrefix(group) + name

/** The group in a record's key. */
export const groupOf = (key: string): string =>
  JSON.parse(`"${decodeURIComponent(key.slice(RECORDS.length).split('/')[0])}"`)

/** The name in a record's key. */
export const nameOf = (key: string) => key.slice(key.lastIndexOf('/') + 1)

/** The first text after all texts with this prefix, which ends in '/': '0' is the next character. */
export const endOf = (prefix: string) => `${prefix.slice(0, -1)}0`
