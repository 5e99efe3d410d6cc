// A link to a server that can cut its connections, and lose them, as a NAT, a load balancer or a moved address does: existing
// connections go silent, without even an end, while new ones work. It can also lead to another server, as a name does
// after a failover: existing connections stay where they are.

import { connect, createServer } from 'node:net'

/**
 * `port` leads to the server; `lose()` drops all traffic of existing connections; `cut()` ends them; `leadTo()` is for new ones.
 * `refuse()` ends all connections, old and new, until `leadTo()`. From `hold()` to `flow()` all traffic waits, also that of new ones.
 */
export async function startProxy(serverPort) {
  const pairs = new Set()
  let target = serverPort
  let isHeld = false
  const proxy = createServer((near) => {
    if (target === undefined) return near.destroy()
    const far = connect(target, '127.0.0.1')
    const pair = { isLost: false, sockets: [near, far] }
    pairs.add(pair)
    for (const [from, to] of [pair.sockets, [far, near]]) {
      if (isHeld) from.pause()
      from.on('data', (data) => pair.isLost || to.write(data))
      from.on('error', () => {})
      from.on('close', () => {
        if (!pair.isLost) to.destroy()
      })
    }
  })
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const lose = () => {
    for (const pair of pairs) pair.isLost = true
  }
  const cut = () => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy()
    pairs.clear()
  }
  const leadTo = (port) => {
    target = port
  }
  const refuse = () => {
    target = undefined
    cut()
  }
  const hold = () => {
    isHeld = true
    for (const { sockets } of pairs) for (const socket of sockets) socket.pause()
  }
  const flow = () => {
    isHeld = false
    for (const { sockets } of pairs) for (const socket of sockets) socket.resume()
  }
  const stop = () => {
    proxy.close()
    cut()
  }
  return { port: proxy.address().port, lose, cut, leadTo, refuse, hold, flow, stop }
}
