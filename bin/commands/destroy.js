'use strict'
// @ts-check

// `flakeforge destroy`: ends a group for all its members. It must never do so by accident.

/** @import { CommandFile, Given } from '../parts/command.js' */
/** @import { AnyStore } from '../parts/stores.js' */

const { existsSync } = require('node:fs')
const { readName } = require('../../lib/lease/common-options.js')
const { usageError } = require('../parts/faults.js')
const { YES } = require('../parts/options.js')
const { print } = require('../parts/output.js')
const { checkOrder, noGroup, withPresentStore } = require('../parts/stores.js')

const ON_A_SERVER = ' For the next 65 s or so, a new group of this name grants no slots.'

/**
 * A misspelt name must not look like success. On a server, a group that never existed looks like one that the server
 * has lost, and the members of that one have to stop; in a folder it does not.
 * @param {AnyStore} store
 * @param {string} group
 */
async function end(store, group) {
  if (store.folderOf !== undefined && !existsSync(store.folderOf(group))) throw await noGroup(store, group)
  return store.destroy(group)
}

/** @param {Given} given */
async function run({ values, operands }) {
  const [name, group, ...more] = operands
  if (group === undefined || more.length > 0) throw usageError('destroy takes DIR or URL, and GROUP.')
  checkOrder('destroy', operands)
  readName('group', group)
  if (!values.yes) {
    throw usageError(`This stops every member of group '${group}' for good. If that is what you want, add --yes.`)
  }
  const next = await withPresentStore(name, async (store) => {
    await end(store, group)
    return store.folder === undefined ? ON_A_SERVER : ''
  })
  await print(values.json ? `${JSON.stringify({ group, destroyed: true })}\n` : `Group '${group}' has ended.${next}\n`)
}

/** @type {CommandFile} */
module.exports = {
  summary: 'end a group of slots for all its members',
  operands: 'DIR|URL GROUP --yes',
  about: `Ends a group: every member stops for good at its next renewal. A group of the same name that is made later begins
above the last ID of this one. On a server it grants no slots for 60 s plus the skew of this one (if this one was durable, for
its ttl plus its skew). Nothing happens without --yes.`,
  options: YES,
  completes: ['store'],
  examples: [['flakeforge destroy redis://localhost shop --yes', "end the group 'shop' on this Redis"]],
  run,
}
