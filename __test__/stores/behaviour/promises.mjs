// All promises of stores, for one database.

import { breakPromises } from './breaks.mjs'
import { clientPromises } from './clients.mjs'
import { recordPromises } from './records.mjs'
import { replicaPromises } from './replicas.mjs'
import { Suite } from './suite.mjs'
import { tablePromises } from './tables.mjs'
import { urlPromises } from './urls.mjs'

export function allPromises(kind) {
  const suite = new Suite(kind)
  recordPromises(suite)
  breakPromises(suite)
  replicaPromises(suite)
  clientPromises(suite)
  tablePromises(suite)
  urlPromises(suite)
}
