// A library's own default in the database: rows without an ID, which `flake_id()` of `flakeforge schema --function` fills. Each
// operation is 'yes' if the library returns the stored ID, 'stored' if the row is right but the library returns another or no
// ID, and otherwise the error.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { layouts, toBigInt } from 'flakeforge'
import { expectId, expectSame, Inexact } from './compare.js'
import { clientOf } from './stored.js'

const COMMAND = join(import.meta.dirname, '..', '..', 'dist', 'flakeforge.cjs')
const NODE = 1023 // none of a program's
const BULK = 1_000

/** Neither MariaDB nor MySQL takes a stored function as a default: a trigger calls it. */
const trigger = (table) => `CREATE TRIGGER ${table}_id BEFORE INSERT ON ${table} FOR EACH ROW
  SET NEW.id = IF(COALESCE(NEW.id, 0) = 0, flake_id(), NEW.id);`

function apply(database, url, sql) {
  const [program, ...args] = clientOf(database, url)
  execFileSync(program, args, { input: sql, stdio: ['pipe', 'ignore', 'inherit'] })
}

/** As docs/data/database-defaults.md says. */
function createFunction(database, url) {
  const dialect = database === 'mariadb' ? ['mysql'] : []
  const args = ['schema', ...dialect, '--function', 'flake_id', '--node', String(NODE)]
  apply(database, url, execFileSync(process.execPath, [COMMAND, ...args]))
}

/** IDs of the function's node, each another. */
function expectMade(ids, n) {
  expectSame(new Set(ids).size, n, 'the number of different IDs')
  for (const id of ids) expectSame(layouts.flake.decode(toBigInt(BigInt(id))).id, NODE, `the node of ${id}`)
}

const OPERATIONS = {
  async insert({ program, stored }) {
    const row = await program.insert({ name: 'Ada' })
    const [{ id }] = await stored.customers(['Ada'])
    expectMade([id], 1)
    return () => expectId(row?.id, BigInt(id))
  },

  async nested({ program, stored }) {
    const row = await program.createWithOrders({ name: 'Bob', orders: [{ item: 'pen' }, { item: 'ink' }] })
    const [customer] = await stored.customers(['Bob'])
    const orders = await stored.orders(['pen', 'ink'])
    expectMade([customer.id, ...orders.map(({ id }) => id)], 3)
    for (const { customerId } of orders) expectId(customerId, BigInt(customer.id), 'customerId')
    return () => expectId(row?.id, BigInt(customer.id))
  },

  async bulk({ program, stored }) {
    await program.insertMany(Array.from({ length: BULK }, (_, i) => ({ name: `bulk ${i}` })))
    const rows = await stored.bulk()
    expectMade(
      rows.map(({ id }) => id),
      BULK,
    )
    return () => {}
  },
}

const METHODS = { insert: 'insert', nested: 'createWithOrders', bulk: 'insertMany' }

async function outcomeOf(run, state) {
  try {
    const expectReturned = await run(state)
    expectReturned()
    return 'yes'
  } catch (error) {
    if (error instanceof Inexact && /is returned as/.test(error.message)) return 'stored'
    const [line] = String(error.cause?.message ?? error.message)
      .split('\n')
      .map((text) => text.trim())
      .filter((text) => text !== '')
      .slice(-1)
    return `error: ${line}`
  }
}

/** What each operation does: `{ insert, nested, bulk }`, without those that the library does not have. */
export async function checkFunction({ open, url, database, stored }) {
  createFunction(database, url)
  const program = await open({ url, database })
  try {
    await program.createTables()
    if (database === 'mariadb') for (const table of ['customers', 'orders']) apply(database, url, trigger(table))
    const results = {}
    for (const [name, run] of Object.entries(OPERATIONS))
      if (typeof program[METHODS[name]] === 'function') results[name] = await outcomeOf(run, { program, stored })
    return results
  } finally {
    await program.close()
  }
}
