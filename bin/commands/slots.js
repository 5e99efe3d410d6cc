'use strict'

// `flakeforge slots`: who holds what on a store. It must never take or free a slot, nor make a group.

const { existsSync } = require('node:fs')
const { resolve } = require('node:path')
const { fileStore } = require('../../index.js')
const { openStore } = require('../../lib/stores/open.js')
const { readArguments, usageError } = require('../parts/arguments.js')
const { print } = require('../parts/output.js')
const { toTable } = require('../parts/table.js')

const usage = `usage: flakeforge slots [DIR | URL] [--group NAME] [--json]

The slots that were ever held: by whom and since when, when the last ID was made with them, and until when their holder may
make IDs without another word from the store. DIR: default the folder of FlakeId.join(). Without --group: all groups.`

const HEADINGS = ['group', 'slot', 'holder', 'since', 'last ID', 'window ends']

const isUrl = (text) => /^[a-z]+:/i.test(text) && !existsSync(text)

/** The store that is named, and how to close it. A folder that is missing is not made. */
function findStore(name) {
  if (name !== undefined && isUrl(name)) return openStore(name)
  const store = fileStore(name === undefined ? undefined : resolve(name))
  if (name !== undefined && !existsSync(store.folder)) throw usageError(`there is no folder ${store.folder}`)
  return { store, close: async () => {} }
}

const date = (value) => (value === undefined ? '' : new Date(value).toISOString())

const holder = ({ owner, pid, host }) => {
  if (owner === undefined) return 'free'
  return pid === undefined ? host : `process ${pid} on ${host}`
}

const row = (slot) => [slot.group, String(slot.slot), holder(slot), date(slot.since), date(slot.last), date(slot.hi)]

async function run(args) {
  const { values, positionals } = readArguments(args, { group: { type: 'string' } })
  if (positionals.length > 1) throw usageError(`slots takes one DIR or URL, not ${positionals.length}`)
  const { store, close } = findStore(positionals[0] ?? process.env.FLAKEFORGE_STORE)
  try {
    const groups = values.group === undefined ? await store.groups() : [values.group]
    const all = []
    for (const group of groups) for (const slot of await store.list(group)) all.push({ group, ...slot })
    if (values.json) return await print(all.map((slot) => `${JSON.stringify(slot)}\n`).join(''))
    await print(`${all.length === 0 ? 'no slot was ever held here' : toTable(HEADINGS, all.map(row))}\n`)
  } finally {
    await close()
  }
}

module.exports = { usage, run }
