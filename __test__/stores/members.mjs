// Members of groups on a real database, each on a client of its own kind. No test of the rules is here: the core has them,
// database-store.test.mjs has what the loop between a step and its records does, and flakeforge-check-store what a database
// could break.

import anyTest from 'ava'
import { fieldsOf } from '../support/records.mjs'
import { openGroup as openSteps, stepsOf } from '../support/steps.mjs'
import { testInTurn } from '../support/turns.mjs'
import { DatabaseStore } from './databases.mjs'

let groups = 0

/** This many tests of a file at once: each step must end within 10 s, also on a busy machine. */
const AT_ONCE = 6

/** A name that no other test has. */
export const freshName = () => `test ${groups++}`

/** The steps on one group, and the fields of its record, by the server's own tools. */
export const callsOn = ({ kind, server, store }, group, options) => ({
  ...stepsOf(store, group, options),
  group,
  fields: async () => fieldsOf(await kind.get(server, group, 'group')),
})

/** A new group that grants slots. Where its members do not trust the store, its quiet period is ended by hand. */
export async function openGroup(member, options) {
  const calls = callsOn(member, freshName(), options)
  if (options?.durable) await calls.create()
  else await openSteps(member.store, calls.group, options)
  return calls
}

/**
 * Starts the server of a database for a test file. Returns `member(name)`, which creates everything for `callsOn` on
 * the one client of that name; `test`, which skips where the server is not installed; and `server()`.
 */
export function serve(kind) {
  const isInstalled = kind.isInstalled()
  const clients = { ...kind.clients, ...kind.fastClients }
  const connected = new Map()
  const ends = []
  let server

  anyTest.before(async () => {
    if (isInstalled) server = await kind.start()
  })

  anyTest.after.always(async () => {
    for (const end of ends) await end()
    await server?.stop()
  })

  async function connect(name) {
    const { client, end } = await clients[name](server)
    ends.push(end)
    return client
  }

  function clientOf(name) {
    if (!connected.has(name)) connected.set(name, connect(name))
    return connected.get(name)
  }

  /** A member on the client of this name, with a separate store, which remembers nothing. */
  async function member(name) {
    const records = kind.recordsOf(await clientOf(name))
    return { kind, server, records, store: new DatabaseStore(records) }
  }

  const run = isInstalled ? anyTest : anyTest.skip
  const test = testInTurn(run, AT_ONCE)
  test.serial = isInstalled ? anyTest.serial : run
  return { test, server: () => server, member }
}
