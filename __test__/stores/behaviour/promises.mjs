// All promises of stores, for one database. Each is tested once, at the lowest place that can break it:
//
// - what is decided (windows, slots, quiet periods, counters, unreadable records): core/tests/lease and its model
// - how a step reads and swaps until it has its answer, and what its errors say: ../database-store.test.mjs, in memory
// - read, swap, names, groups, clock, identity: the checks of packages/check-store, by records.mjs on every row; that they find
//   each fault: ../../check-store
// - what a server, a replica or a client may do meanwhile: the other files here, on every row that has what it needs
// - members at once, on one client and on several: ../races.mjs
// - what each way to lose records leads to: ../loss.mjs
// - what only one database has: ../NAME-*.test.mjs

import { breakPromises } from './breaks.mjs'
import { clientPromises } from './clients.mjs'
import { leasePromises, promisesOfNextGroups } from './leases.mjs'
import { recordPromises } from './records.mjs'
import { replicaPromises } from './replicas.mjs'
import { Suite } from './suite.mjs'
import { tablePromises } from './tables.mjs'
import { urlPromises } from './urls.mjs'

export function allPromises(kind) {
  const suite = new Suite(kind)
  recordPromises(suite)
  leasePromises(suite)
  promisesOfNextGroups(suite)
  breakPromises(suite)
  replicaPromises(suite)
  clientPromises(suite)
  tablePromises(suite)
  urlPromises(suite)
}
