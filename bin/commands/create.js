'use strict'

// `flakeforge create`: makes a group that is known to be new, once. Without it, the first members wait until the
// members of a lost group would have stopped.

const { createGroup } = require('../../index.js')
const { Layout } = require('../../index.js')
const { usageError } = require('../parts/faults.js')
const { NODE_OFFSET, OF_GROUP, OF_LAYOUT } = require('../parts/options.js')
const { print } = require('../parts/output.js')
const { withStore } = require('../parts/stores.js')

const SAID = {
  true: (group) => `Made group '${group}'.`,
  false: (group) => `Group '${group}' exists already, with the same options. Nothing was changed.`,
}

async function run({ values, operands, layout }) {
  const [name, group = 'default', ...more] = operands
  if (name === undefined || more.length > 0) throw usageError('create takes DIR or URL, and perhaps GROUP.')
  const { slots, ttl: ttlMs, skew: skewMs, 'node-offset': nodeOffset } = values
  const nodes = Object.fromEntries(Layout.facts(layout).nodeNames.map((field) => [field, values[field]]))
  const options = { ...nodes, layout, group, slots, ttlMs, skewMs, nodeOffset }
  const created = await withStore(name, (store) => createGroup(store, options))
  await print(`${values.json ? JSON.stringify({ group, created }) : SAID[created](group)}\n`)
}

module.exports = {
  summary: 'make a group of slots that is known to be new',
  operands: 'DIR|URL [GROUP]',
  about: `Makes a group (default 'default') that is known to be new, so that its first members on a server need not wait for
65 s. If the group exists, this changes nothing, and says so. A folder DIR is made where it is missing.

Do this once, by hand, and never where the server may have lost the group: its members may still be making IDs.

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
