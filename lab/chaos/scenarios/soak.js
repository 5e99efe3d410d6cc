'use strict'

// `npm run chaos -- soak [redis|postgres|mysql|etcd] --ids 1e10`: as many IDs as a busy application generates in weeks,
// under the faults of server.js. Their layout has room for 2^18 IDs in a ms, and members take them by 65 536 and one by
// one.

const { LEASE, columnsOf, prepareOn } = require('./server.js')

const WIDE = {
  fields: [
    ['timestamp', 42],
    ['node', 4],
    ['counter', 18],
  ],
}
const BATCH = 65_536 + 16
const PER_SECOND = 12_000_000
/** The rest of that when half of the members wait for a slot, and many are dead or cut off. */
const REACHED = 24_000_000

/** The tasks of members, beyond those of server.js. */
const task = { call: 'takeAndNext', batch: BATCH, perSecond: PER_SECOND }

/** The server fails for as long as this many IDs usually take; members fail until they are generated. */
async function prepare(store, { ids, policy }) {
  const seconds = ids / REACHED
  const { start } = require(`../servers/${store}.js`)
  const prepared = await prepareOn(start, {
    name: `soak, ${store}`,
    policy,
    seconds,
    lease: { ...LEASE, layout: WIDE },
    task,
  })
  for (const scenario of prepared.scenarios) {
    scenario.seconds = seconds
    scenario.isEnough = ({ members, troubles }) =>
      troubles.length > 0 || members.reduce((sum, { made }) => sum + made, 0) >= ids
  }
  return prepared
}

const soak = (store) => ({
  columns: columnsOf(store),
  policies: ['window'],
  prepare: (given) => prepare(store, given),
})

module.exports = { BATCH, WIDE, soak }
