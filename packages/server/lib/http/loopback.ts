// Which names and addresses mean this machine: every spelling of them, as browsers and getaddrinfo() read it.

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])\.?$/

/** @param host without a port, and without the brackets of an address */
export const isLoopback = (host: string) => LOOPBACK.test(canonical(host))

/** Whether a server that listens there is reached from this machine only. A name counts by the addresses that it has here. */
export async function listensOnLoopback(host: string) {
  if (isLoopback(host)) return true
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.length > 0 && found.every(({ address }) => isLoopback(address))
}

/** In a URL's form: 127.1 is 127.0.0.1, and 0:0:0:0:0:0:0:1 is [::1]. */
function canonical(host: string) {
  const address = host.replace(/%.*$/, '') // a zone, as in ::1%lo
  const text = isIP(address) === 6 ? `[${address}]` : address
  const url = `http://${text}/`
  const isHost = /^\[[^\]]*\]$|^[^\s/?#@\\:[\]]+$/.test(text)
  return isHost && URL.canParse(url) ? new URL(url).hostname : ''
}
