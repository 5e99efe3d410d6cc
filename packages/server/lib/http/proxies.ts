// Which addresses are our own proxies, whose X-Forwarded-For names the client. Peers on a unix socket have no address; only a
// proxy with the right to open the socket connects there, so it is one of ours.

import { BlockList, isIP } from 'node:net'

const NAMED: Record<string, string[]> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** An address, or a range of them by its prefix; undefined for any other text. */
function rangeOf(text: string) {
  const [, address, bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address ?? '')
  const most = version === 4 ? 32 : 128
  const prefix = Number(bits ?? most)
  if (version === 0 || prefix > most) return undefined
  return { address, prefix, family: `ipv${version}` as 'ipv4' | 'ipv6' }
}

export const isRange = (text: string) => Object.hasOwn(NAMED, text) || rangeOf(text) !== undefined

/**
 * fastify's question about each address on the way of a request, the nearest first.
 * @param texts accepted by isRange()
 */
export function trustOf(texts: string[]): (address: string | undefined) => boolean {
  const list = new BlockList()
  for (const text of texts.flatMap((each) => NAMED[each] ?? [each])) {
    const { address, prefix, family } = rangeOf(text) as NonNullable<ReturnType<typeof rangeOf>>
    list.addSubnet(address, prefix, family)
  }
  return (address) => {
    if (address === undefined) return true
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
  }
}
