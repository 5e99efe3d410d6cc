// join() with `elseFrom`: from its options to a lease that has servers behind it. It must never be loaded unless the
// option is given.

import type { RemoteSettings } from '../../remote/options.ts'
import { Servers } from '../../remote/servers.ts'
import type { JoinSettings } from '../join-options.ts'
import type { Lease } from '../lease.ts'
import { LeaseOrServers } from './lease-or-servers.ts'
import { ServerSupply } from './server-supply.ts'

/**
 * The lease with servers behind it, and `look()`, which warns of servers that are of another group: before they are needed.
 * @param onChange tries the calls again that wait
 */
export function withServers(
  lease: Lease,
  { elseFrom, facts, group, config }: JoinSettings & { elseFrom: RemoteSettings },
  onChange: () => void,
) {
  const own = () => ({ name: group, layout: config.fingerprint, group: lease.lineage })
  const servers = new Servers(elseFrom, own)
  const supply = new ServerSupply(servers, elseFrom, onChange)
  const over = new AbortController()
  const look = async () => {
    const strangers = await servers.strangers(over.signal)
    for (const { message } of strangers) process.emitWarning(message, { code: 'FLAKEFORGE_ELSE_FROM' })
  }
  const { name } = elseFrom
  return { lease: new LeaseOrServers(lease, supply, { facts, name, onClose: () => over.abort() }), look }
}
