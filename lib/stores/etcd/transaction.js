'use strict'

// Translates between the steps and etcd: replies into what the steps see, and a plan into one transaction. It must
// never write a slot without comparing it and the group record with what the step saw.

const {
  LIMIT,
  keysOfRecord,
  parse,
  place,
  put,
  remove,
  removeAll,
  serialize,
  unchanged,
  unchangedSince,
} = require('./keys')

/** Whether a slot has a live owner, from the first keys of live slots; a slot after those counts as alive. */
function aliveness(kvs = []) {
  const placeOf = ({ key }) => key.split('/').slice(-2).join('/')
  const alive = kvs.map(placeOf)
  const isWhole = alive.length < LIMIT
  return (record) => alive.includes(place(record)) || !(isWhole || place(record) <= alive.at(-1))
}

/** A reply as the steps see it. `lists`: the key-values by the names of the reads. */
function lookOf({ lists, ...reply }) {
  const first = (name) => parse(lists[name]?.[0])
  const records = (name) => lists[name]?.map(parse)
  return {
    ...reply,
    record: first('record'),
    held: first('held'),
    highest: first('highest')?.hi ?? -1,
    used: Number(lists.used?.[0]?.value ?? 0),
    ofOwner: records('ofOwner'),
    ofHost: records('ofHost'),
    byEnd: records('byEnd'),
    isAlive: aliveness(lists.alive),
  }
}

const none = { compare: [], success: [] }

function recordChange(keys, look, { record }) {
  if (record === undefined || record === look.record) return none
  return { compare: [], success: [put(keys.record, serialize(record))] }
}

function slotChange(keys, look, { from, to }, lease) {
  if (to === undefined) return none
  const aliveKey = (record) => keys.alive + place(record)
  const text = serialize(to)
  const puts = new Map(keysOfRecord(keys, to).map((key) => [key, put(key, text)]))
  if (to.owner !== undefined) puts.set(aliveKey(to), put(aliveKey(to), '', lease))
  const isFirst = from.seen === undefined // it was the lowest slot without a record
  if (isFirst) puts.set(keys.used, put(keys.used, String(look.used + 1)))
  const old = isFirst ? [] : [...keysOfRecord(keys, from), aliveKey(from)]
  return {
    // all keys of a record are written together, so comparing the one that was read is enough
    compare: unchanged(keys.slot(to.slot), from.seen),
    success: [...puts.values(), ...old.filter((key) => !puts.has(key)).map(remove)],
  }
}

/** The end of a group: no slot may have been written since its highest end was read. */
function groupEnd(keys, look, { record }) {
  if (record?.destroyed !== true || record === look.record) return none
  return { compare: unchangedSince(keys.all, look.revision), success: [removeAll(keys.slots)] }
}

/** The transaction that carries out a plan; `success` is empty if there is nothing to write. */
function transactionOf(keys, look, plan, lease) {
  const changes = [recordChange(keys, look, plan), slotChange(keys, look, plan, lease), groupEnd(keys, look, plan)]
  return {
    compare: [...unchanged(keys.record, look.record?.seen), ...changes.flatMap(({ compare }) => compare)],
    success: changes.flatMap(({ success }) => success),
  }
}

module.exports = { lookOf, transactionOf }
