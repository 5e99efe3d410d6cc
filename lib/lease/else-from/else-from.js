'use strict'
// @ts-check

// join() with `elseFrom`: from its options to a lease that has servers behind it. It must never be loaded unless the
// option is given.

const { Servers } = require('../../remote/servers.js')
const { LeaseOrServers } = require('./lease-or-servers.js')
const { SameGroup } = require('./same-group.js')
const { Supply } = require('./supply.js')

/**
 * @import { RemoteSettings } from '../../remote/options.js'
 * @import { JoinOptions } from '../join-options.js'
 * @import { Lease } from '../lease.js'
 * @import { SlotStore } from '../stores/database.js'
 */

/**
 * The lease with servers behind it, and `look()`, which compares the servers with the store while both are there: when
 * they are needed, the store may be away.
 * @param {Lease} lease
 * @param {SlotStore} store
 * @param {JoinOptions & { elseFrom: RemoteSettings }} options
 * @param {() => void} onChange tries the calls again that wait
 */
function withServers(lease, store, { elseFrom, facts, group, config }, onChange) {
  const { name } = elseFrom
  const servers = new Servers({ ...elseFrom, accept: (response, server) => same.accept(response, server) })
  const get = servers.get.bind(servers)
  const same = new SameGroup({ store, group, fingerprint: config.fingerprint, name }, get)
  const fetch = async (/** @type {number} */ n, /** @type {AbortSignal} */ signal) => {
    const ids = await servers.take(n, { signal })
    await same.assert(signal)
    return ids
  }
  const supply = new Supply(fetch, elseFrom, onChange)
  const over = new AbortController()
  const look = () => Promise.all(elseFrom.servers.map((server) => warnUnlessSame(same, server, over.signal)))
  return { lease: new LeaseOrServers(lease, supply, { facts, name, onClose: () => over.abort() }), look }
}

/**
 * @param {SameGroup} same
 * @param {string} server
 * @param {AbortSignal} signal ends the look, so that it keeps no process alive
 */
async function warnUnlessSame(same, server, signal) {
  try {
    await same.look(server, signal)
  } catch (error) {
    process.emitWarning(/** @type {Error} */ (error).message, { code: 'FLAKEFORGE_ELSE_FROM' })
  }
}

module.exports = { withServers }
