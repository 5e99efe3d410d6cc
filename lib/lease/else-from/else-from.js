'use strict'
// @ts-check

// join() with `elseFrom`: from its options to a lease that has servers behind it. It must never be loaded unless the
// option is given.

const { Servers } = require('../../remote/servers.js')
const { LeaseOrServers } = require('./lease-or-servers.js')
const { Supply } = require('./supply.js')

/**
 * @import { RemoteSettings } from '../../remote/options.js'
 * @import { JoinOptions } from '../join-options.js'
 * @import { Lease } from '../lease.js'
 */

/**
 * The lease with servers behind it, and `look()`, which warns of servers that are of another group: before they are needed.
 * @param {Lease} lease
 * @param {JoinOptions & { elseFrom: RemoteSettings }} options
 * @param {() => void} onChange tries the calls again that wait
 */
function withServers(lease, { elseFrom, facts, group, config }, onChange) {
  const own = () => ({ name: group, layout: config.fingerprint, group: lease.lineage })
  const servers = new Servers(elseFrom, own)
  const supply = new Supply(servers, elseFrom, onChange)
  const over = new AbortController()
  const look = async () => {
    const strangers = await servers.strangers(over.signal)
    for (const { message } of strangers) process.emitWarning(message, { code: 'FLAKEFORGE_ELSE_FROM' })
  }
  const { name } = elseFrom
  return { lease: new LeaseOrServers(lease, supply, { facts, name, onClose: () => over.abort() }), look }
}

module.exports = { withServers }
