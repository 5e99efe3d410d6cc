'use strict'

// `flakeforge create`: makes a group that is known to be new, once, so that its first members need not wait until whoever
// could have been forgotten is surely gone.

const { createGroup } = require('../../index.js')
const { LAYOUT, findLayout, nodeFields, readArguments, readLayout, usageError } = require('../parts/arguments.js')
const { print } = require('../parts/output.js')
const { withStore } = require('../parts/stores.js')

const usage = `usage: flakeforge create DIR|URL [GROUP] [options]

Makes a group that is known to be new, so that nobody waits out its quiet period, and the folder DIR where it is missing.
Never where the store may have lost the group: its members may still be making IDs. GROUP: default 'default'. The options
are those of FlakeId.join() that the members have to agree on, and must be the same:

  --slots N          how many slots; default: all that the layout's free node bits allow
  --ttl MS           default 30000
  --skew MS          default 5000
  --layout NAME      flake (default) or another of \`flakeforge layouts\`, or fields of your own as JSON
  --FIELD N          a node field that is fixed
  --epoch DATE       Unix ms or ISO text that timestamps count from
  --nodes N          snowcast: how many nodes
  --mode MODE        uniqueid: spread or sequential
  --id-offset N      what is added to every ID
  --node-offset N    what is added to slot numbers`

const OWN = ['slots', 'ttl', 'skew', 'node-offset']

async function run(args) {
  const names = nodeFields(findLayout(args, 'flake'))
  const own = Object.fromEntries([...names, ...OWN].map((name) => [name, { type: 'string' }]))
  const { values, positionals } = readArguments(args, { ...LAYOUT, ...own })
  const [name, group = 'default', ...more] = positionals
  if (name === undefined || more.length > 0) throw usageError('create takes DIR or URL, and perhaps GROUP')
  const { slots, ttl: ttlMs, skew: skewMs, 'node-offset': nodeOffset } = values
  const nodes = Object.fromEntries(names.map((field) => [field, values[field]]))
  const options = { ...nodes, layout: readLayout(values, 'flake'), group, slots, ttlMs, skewMs, nodeOffset }
  await withStore(name, (store) => createGroup(store, options))
  await print(values.json ? `${JSON.stringify({ group, created: true })}\n` : `group '${group}' is there\n`)
}

module.exports = { usage, run }
