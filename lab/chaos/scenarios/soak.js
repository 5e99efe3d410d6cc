'use strict'

// `npm run chaos -- soak redis|postgres|mysql|etcd|quorum3|quorum5 --ids 1e10`: as many IDs as a busy application generates
// in weeks, and faults in proportion, as in server.js. On a single store, the layout has room for 2^18 IDs in a ms, and
// members take them by 65 536 and one by one.

const { total } = require('../faults/fault.js')
const { columnsOf, prepareOn } = require('./server.js')

const WIDE = {
  fields: [
    ['timestamp', 42],
    ['node', 4],
    ['counter', 18],
  ],
}
const BATCH = 65_536 + 16

/**
 * How a soak goes: the tasks of members and their lease, beyond those of server.js; how many IDs all members make per second
 * when half of them wait for a slot, and many are dead or cut off; and how many of them come to one fault.
 */
const SINGLE = {
  lease: { layout: WIDE },
  task: { call: 'takeAndNext', batch: BATCH, perSecond: 12_000_000 },
  reached: 24_000_000,
  idsPerFault: 1e7,
}
/** Several servers have tasks of their own. The members generate fewer IDs, because the faults are what takes the time. */
const SEVERAL = { reached: 1_300_000, idsPerFault: 1e6 }

const SOAKS = { redis: SINGLE, postgres: SINGLE, mysql: SINGLE, etcd: SINGLE, quorum3: SEVERAL, quorum5: SEVERAL }

/** The server fails for as long as this many IDs usually take; members fail until there are enough IDs and faults. */
function extentOf(store, ids) {
  const { reached, idsPerFault } = SOAKS[store]
  const made = (members) => members.reduce((sum, { made }) => sum + made, 0)
  return {
    seconds: ids / reached,
    isEnough: ({ counts, members, troubles }) =>
      troubles.length > 0 || (total(counts) >= ids / idsPerFault && made(members) >= ids),
  }
}

async function prepare(store, { ids, policy }) {
  const extent = extentOf(store, ids)
  const { lease, task } = SOAKS[store]
  const { start } = require(`../servers/${store}.js`)
  const given = { name: `soak, ${store}`, policy, seconds: extent.seconds, lease, task }
  const prepared = await prepareOn(start, given)
  for (const scenario of prepared.scenarios) Object.assign(scenario, extent)
  return prepared
}

const soak = (store) => ({
  columns: columnsOf(store),
  policies: ['window'],
  prepare: (given) => prepare(store, given),
})

module.exports = { BATCH, SOAKS, WIDE, extentOf, soak }
