// Recognises a server that needs another kind of address: a Sentinel, or a node of a cluster.

import { said } from '../../base/errors.ts'
import { type Commands, textsIn } from './packages.ts'

const [UNKNOWN, MOVED] = [/^ERR unknown command/i, /^MOVED \d+ (\S+)/]

/**
 * What the server is and which address to use, if a client of a single server cannot work with it.
 * @param text the server's error
 */
export async function wrongServer(commands: Commands, key: string, text: string) {
  if (commands.database === '') return undefined // a cluster's client follows MOVED
  const [, node] = MOVED.exec(text) ?? []
  if (node !== undefined) {
    return `Its server is a node of a cluster. Use redis-cluster://${said(node)}, or a client of the cluster.`
  }
  const names = UNKNOWN.test(text) ? await primariesOf(commands, key) : undefined
  if (names === undefined) return undefined
  const { address = '' } = commands
  const host = /^\S+:\d+$/.test(address) ? address : 'HOST:26379'
  const known = names.length === 0 ? '' : `: ${names.map((name) => `'${said(name, 60)}'`).join(' or ')}`
  // The end of an address may be a secret, and messages are printed without it, so the name stands apart.
  return `Its server is a Sentinel. Use redis-sentinel://${host} with # and the name of the primary after it${known}. Or use a client of Sentinel.`
}

/** The names of the primaries that a Sentinel watches; undefined if this is no Sentinel. */
async function primariesOf(commands: Commands, key: string) {
  const reply = await commands.command(key, ['SENTINEL', 'MASTERS']).catch(() => undefined)
  return Array.isArray(reply) ? reply.map(nameOf).filter((name) => name !== undefined) : undefined
}

function nameOf(reply: unknown): string | undefined {
  const texts = textsIn(reply)
  const at = texts.indexOf('name')
  return at < 0 ? undefined : texts[at + 1]
}
