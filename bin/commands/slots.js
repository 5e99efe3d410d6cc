'use strict'

// `flakeforge slots`: who holds what on a store. It must never take or free a slot, nor make a group.

const { readName } = require('../../lib/join-options.js')
const { readArguments, usageError } = require('../parts/arguments.js')
const { report } = require('../parts/faults.js')
const { print } = require('../parts/output.js')
const { withPresentStore } = require('../parts/stores.js')
const { toTable } = require('../parts/table.js')

const usage = `usage: flakeforge slots [DIR | URL] [--group NAME] [--json]

The slots that were ever held: by whom and since when, when the last ID was made with them, and until when their holder may
make IDs without another word from the store. DIR: default the folder of FlakeId.join(). Without --group: of a folder all
groups, else 'default'.`

const HEADINGS = ['group', 'slot', 'holder', 'since', 'last ID', 'window ends']

const date = (value) => (value === undefined ? '' : new Date(value).toISOString())

function holder({ owner, pid, host, hi }) {
  if (owner === undefined) return 'free'
  if (pid !== undefined) return `process ${pid} on ${host}`
  return hi < Date.now() ? `free, last ${host}` : host
}

const row = (slot) => [slot.group, String(slot.slot), holder(slot), date(slot.since), date(slot.last), date(slot.hi)]

/** What is wrong with a group: its error, or one for each file that is not what it should be. */
const faultsOf = (error) => error.faults?.map((message) => ({ message, code: error.code })) ?? [error]

/** The slots of all groups as far as they can be read, and what is wrong with the rest: one bad file must not hide all. */
async function listAll(store, group) {
  const groups = group === undefined ? ((await store.groups?.()) ?? ['default']) : [group]
  const settled = await Promise.allSettled(groups.map((name) => store.list(name)))
  const rows = ({ value, reason }, i) => (value ?? reason.slots ?? []).map((slot) => ({ group: groups[i], ...slot }))
  const rejected = settled.filter(({ status }) => status === 'rejected')
  return { slots: settled.flatMap(rows), faults: rejected.flatMap(({ reason }) => faultsOf(reason)) }
}

async function run(args) {
  const { values, positionals } = readArguments(args, { group: { type: 'string' } })
  if (positionals.length > 1) throw usageError(`slots takes one DIR or URL, not ${positionals.length}`)
  if (values.group !== undefined) readName('group', values.group)
  const { slots, faults } = await withPresentStore(positionals[0], (store) => listAll(store, values.group))
  for (const fault of faults) report(fault)
  if (values.json) return print(slots.map((slot) => `${JSON.stringify(slot)}\n`).join(''))
  if (slots.length > 0) return print(`${toTable(HEADINGS, slots.map(row))}\n`)
  if (faults.length === 0) await print('no slot was ever held here\n')
}

module.exports = { usage, run }
