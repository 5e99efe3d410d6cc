// The store of examples/kubernetes on one of the API servers of a cluster: for flakeforge-check-store, whose processes then use
// different ones, and for the members of `npm run chaos`.

import { readFile } from 'node:fs/promises'
import open from '../../../examples/kubernetes/leases.mjs'

/** @param {{ server: string, namespace: string, tokenFile: string }} place */
export const storeAt = ({ server, namespace, tokenFile }) =>
  open({ server, namespace: async () => namespace, token: () => readFile(tokenFile, 'utf8') })

export default () => {
  const { servers, ...place } = JSON.parse(process.env.LEASES)
  return storeAt({ ...place, server: servers[process.pid % servers.length] })
}
