'use strict'

// The keys of groups and counters on etcd, and the text under them.
// It must never let one group's keys begin like another's, and never contain a rule.
//
//   flakeforge/group/<group>/record                 the group record
//   flakeforge/group/<group>/slots/used             how many slots were ever granted: they are 0…used − 1
//   flakeforge/group/<group>/slots/hw/<slot>        a slot's record: owner, host, lo, hi (safety: never expires)
//   flakeforge/group/<group>/slots/end/<hi>/<slot>             the same record, in the order of the ends
//   flakeforge/group/<group>/slots/host/<host>/<hi>/<slot>     the same record, for the slots of one host
//   flakeforge/group/<group>/slots/who/<owner>/<slot>          the same record, for a retry
//   flakeforge/group/<group>/slots/own/<hi>/<slot>  nothing, with an etcd lease (liveness): gone once its owner is
//   flakeforge/counter/<name>                       a counter
//
// The keys sort in the order of the rules, so that a range with a `limit` reads only what it needs: for any other order
// etcd first reads the whole range. `end` and `own` have the same order, so that the first keys of both tell which
// slots have a live owner.

const { createHash } = require('node:crypto')
const { storeError } = require('../../errors')
const { toBase64 } = require('./gateway')

/**
 * How many candidates a step looks at. If more have ended but are alive, they are found when the first ones have moved
 * on.
 */
const LIMIT = 8

/** A name as one part of a key; JSON keeps lone surrogates distinct, which UTF-8 does not. */
const part = (name) => encodeURIComponent(JSON.stringify(name).slice(1, -1))

/** A slot's place in the order of the ends; 16 digits hold every safe integer. */
const place = ({ hi, slot }) => `${String(hi).padStart(16, '0')}/${slotPart(slot)}`
const slotPart = (slot) => String(slot).padStart(5, '0')

const GROUPS = 'flakeforge/group/'
const groupPrefix = (group) => `${GROUPS}${part(group)}/`
const counterKey = (name) => `flakeforge/counter/${part(name)}`

function groupKeys(group) {
  const prefix = groupPrefix(group)
  const slots = `${prefix}slots/`
  return {
    record: `${prefix}record`,
    slots,
    used: `${slots}used`,
    all: `${slots}hw/`,
    slot: (slot) => `${slots}hw/${slotPart(slot)}`,
    ends: `${slots}end/`,
    hosts: (host) => `${slots}host/${part(host)}/`,
    owners: (owner) => `${slots}who/${part(owner)}/`,
    alive: `${slots}own/`,
  }
}

/** The group that a key belongs to. */
const groupOf = (key) => JSON.parse(`"${decodeURIComponent(key.slice(GROUPS.length).split('/')[0])}"`)

/** Whether this first key of a group is its record and not a tombstone. */
const isLivingGroup = (kv) => kv?.key.endsWith('/record') === true && !parse(kv).destroyed

/** Every key that holds this record. */
function keysOfRecord(keys, record) {
  const { slot, owner, host } = record
  const named = [keys.slot(slot), keys.ends + place(record), keys.hosts(host) + place(record)]
  return owner === undefined ? named : [...named, keys.owners(owner) + slotPart(slot)]
}

/** The etcd lease of an owner: derived from its token, so that a retry finds it and nobody has to remember it. */
function leaseOf(group, owner) {
  const digest = createHash('sha256').update(`${group}\n${owner}`).digest()
  return String((digest.readBigUInt64BE() >> 1n) | 1n) // a positive int64, never 0, which asks etcd to choose
}

/** A record of a slot, a group or a counter; `seen` is what a transaction compares. */
function parse(kv) {
  if (kv === undefined) return
  try {
    return { ...JSON.parse(kv.value), seen: kv }
  } catch (error) {
    throw storeError(`The etcd key ${kv.key} does not hold a record of flakeforge: ${kv.value.slice(0, 40)}`, error)
  }
}

const serialize = ({ seen, ...record }) => JSON.stringify(record)

const endOf = (prefix) => `${prefix.slice(0, -1)}0` // every prefix ends in '/', and '0' comes after it

const one = (key) => ({ request_range: { key: toBase64(key) } })
const range = (prefix) => ({ key: toBase64(prefix), range_end: toBase64(endOf(prefix)) })
const all = (prefix) => ({ request_range: range(prefix) })
const first = (prefix) => ({ request_range: { ...range(prefix), limit: LIMIT } })
const last = (prefix) => ({ request_range: { ...range(prefix), limit: 1, sort_order: 'DESCEND' } })
/** The first key of the next group after this key's, or of the first group. The record comes before the slots. */
const nextGroup = (key) => {
  const from = key === undefined ? GROUPS : endOf(groupPrefix(groupOf(key)))
  return { request_range: { key: toBase64(from), range_end: toBase64(endOf(GROUPS)), limit: 1 } }
}
const put = (key, value, lease) => ({ request_put: { key: toBase64(key), value: toBase64(value), lease } })
const remove = (key) => ({ request_delete_range: { key: toBase64(key) } })
const removeAll = (prefix) => ({ request_delete_range: range(prefix) })

/**
 * Compares that a key is as it was seen, or still absent. The revision alone is not enough: a store that is restored
 * from a snapshot uses the same revisions again.
 */
function unchanged(key, seen) {
  const target = { key: toBase64(key), result: 'EQUAL' }
  if (seen === undefined) return [{ ...target, target: 'CREATE', create_revision: '0' }]
  return [
    { ...target, target: 'MOD', mod_revision: String(seen.revision) },
    { ...target, target: 'VALUE', value: toBase64(seen.value) },
  ]
}

/** Compares that no key of a range was written after `revision`. */
const unchangedSince = (prefix, revision) => [
  { ...range(prefix), result: 'LESS', target: 'MOD', mod_revision: String(revision + 1) },
]

module.exports = {
  LIMIT,
  all,
  counterKey,
  first,
  groupKeys,
  groupOf,
  isLivingGroup,
  keysOfRecord,
  last,
  leaseOf,
  nextGroup,
  one,
  parse,
  place,
  put,
  remove,
  removeAll,
  serialize,
  unchanged,
  unchangedSince,
}
