// A store that is right, over server.mjs. The stores of wrong.mjs differ from it in one way each.

import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

/** A connection: `ask(operation, ...args)` resolves to what the server answers. */
export async function connection(port) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const waiting = new Map()
  createInterface({ input: socket }).on('line', (line) => {
    const { id, value } = JSON.parse(line)
    waiting.get(id)(value)
    waiting.delete(id)
  })
  let requests = 0
  const ask = (operation, ...args) =>
    new Promise((resolve) => {
      const id = requests++
      waiting.set(id, resolve)
      socket.write(`${JSON.stringify({ id, operation, args })}\n`)
    })
  return { ask, end: () => socket.end() }
}

/** A RecordStore with a connection of its own. */
export const rightStore = ({ ask, end }) => ({
  read: (group, names) => ask('read', group, names),
  swap: (group, name, from, to, identity) => ask('swap', group, name, from, to, identity),
  names: (group) => ask('names', group),
  groups: () => ask('groups'),
  close: async () => end(),
})

/** What a module exports for check-store. */
export const open = (port) => async () => rightStore(await connection(port))

export async function wipe(port) {
  const { ask, end } = await connection(port)
  await ask('wipe')
  end()
}

export const isSame = (one, other) => one.history === other.history && one.process === other.process
