// A correct store, over server.mjs. Each store of wrong.mjs differs from it in one way.

import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { once } from '../support/waits.mjs'

/** A connection: `ask(operation, ...args)` resolves to the server's answer. */
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

/** A RecordStore with its own connection. */
export const rightStore = ({ ask, end }) => ({
  read: (group, names) => ask('read', group, names),
  swap: (group, name, from, to, identity) => ask('swap', group, name, from, to, identity),
  names: (group) => ask('names', group),
  groups: () => ask('groups'),
  close: async () => end(),
})

/** The exports of a module for check-store. */
export const open = (port) => async () => rightStore(await connection(port))

export async function wipe(port) {
  const { ask, end } = await connection(port)
  await ask('wipe')
  end()
}

export const isSame = (one, other) => one.history === other.history && one.process === other.process
