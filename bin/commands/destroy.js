'use strict'

// `flakeforge destroy`: ends a group for all its members. It must never do so by a slip of the hand.

const { existsSync } = require('node:fs')
const { readName } = require('../../lib/join-options.js')
const { readArguments, usageError } = require('../parts/arguments.js')
const { print } = require('../parts/output.js')
const { withPresentStore } = require('../parts/stores.js')

const usage = `usage: flakeforge destroy DIR|URL GROUP --yes [--json]

Ends a group: every member stops for good at its next renewal. A group of that name that is made later begins above its last
ID. Nothing happens without --yes.`

/** A misspelt name must not look like success; on a server it cannot be told from a group that the server has lost. */
function end(store, group) {
  if (store.folderOf !== undefined && !existsSync(store.folderOf(group))) {
    throw usageError(`there is no group '${group}' in ${store.folder}`)
  }
  return store.destroy(group)
}

async function run(args) {
  const { values, positionals } = readArguments(args, { yes: { type: 'boolean' } })
  const [name, group, ...more] = positionals
  if (group === undefined || more.length > 0) throw usageError('destroy takes DIR or URL, and GROUP')
  readName('group', group)
  if (!values.yes) throw usageError(`every member of group '${group}' would stop for good: say so with --yes`)
  await withPresentStore(name, (store) => end(store, group))
  await print(values.json ? `${JSON.stringify({ group, destroyed: true })}\n` : `group '${group}' has ended\n`)
}

module.exports = { usage, run }
