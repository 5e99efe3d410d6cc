'use strict'
// @ts-check

// `flakeforge create`: makes a group that is known to be new, once, and waits until it grants slots. Without it, the first
// members wait until the members of a lost group would have stopped.

/** @import { Store } from '../../index.d.ts' */
/** @import { CommandFile, Given } from '../parts/command.js' */

const { createGroup } = require('../../index.js')
const { readLayout } = require('../parts/arguments.js')
const { usageError } = require('../parts/faults.js')
const { factsOf } = require('../parts/layout-facts.js')
const { NODE_OFFSET, OF_GROUP, OF_LAYOUT } = require('../parts/options.js')
const { print, sayWarnings } = require('../parts/output.js')
const { checkOrder, withStore } = require('../parts/stores.js')

/**
 * What a person reads.
 * @param {string} group
 * @param {{ created: boolean, isFolder: boolean }} made
 */
function textOf(group, { created, isFolder }) {
  if (!created) return `Group '${group}' exists already, with the same options. Nothing was changed.`
  return `Made group '${group}'${isFolder ? '' : ', and waited until it grants slots'}.`
}

/** @param {Given} given */
async function run({ values, operands }) {
  const layout = readLayout(values, 'flake')
  const [name, group = 'default', ...more] = operands
  if (name === undefined || more.length > 0) throw usageError('create takes DIR or URL, and perhaps GROUP.')
  checkOrder('create', operands)
  const { slots, ttl: ttlMs, skew: skewMs, durable, 'node-offset': nodeOffset } = values
  const nodes = Object.fromEntries(factsOf(layout).nodeNames.map((field) => [field, values[field]]))
  const options = { ...nodes, layout, group, slots, ttlMs, skewMs, durable, nodeOffset }
  sayWarnings()
  const made = await withStore(name, async (store) => ({
    created: await createGroup(/** @type {Store} */ (store), options),
    isFolder: store.folder !== undefined,
  }))
  const text = values.json ? JSON.stringify({ group, created: made.created }) : textOf(group, made)
  await print(`${text}\n`)
}

/** @type {CommandFile} */
module.exports = {
  summary: 'make a group of slots that is known to be new',
  operands: 'DIR|URL [GROUP]',
  about: `Makes a group (default 'default') that is known to be new, so that its first members on a server need not wait for
65 s. The command itself waits until the group grants slots: 1 s plus --skew, or up to 65 s if a group of this name was
destroyed a moment ago. If the group exists, this changes nothing, and says so. A folder DIR is made where it is missing.

Do this once, by hand. It is right only if no process used this group in the last minute. Never do it where the server may
have lost the group: its members may still be making IDs.

--durable is for a server that never loses what it acknowledged. A Redis with replicas or without appendfsync always, and
other servers that are set up to lose writes, are refused. Then nobody waits for a new group, and this command is not needed.

Give the options that the members give to FlakeId.join(): all members of a group must agree on them.`,
  options: { ...OF_GROUP, ...OF_LAYOUT, ...NODE_OFFSET },
  nodeFields: true,
  completes: ['store'],
  examples: [
    ['flakeforge create redis://localhost shop', "for members that call join('redis://localhost', { group: 'shop' })"],
    ['flakeforge create postgres://localhost/app web --layout hazelcast --slots 64', 'for members with these options'],
  ],
  run,
}
