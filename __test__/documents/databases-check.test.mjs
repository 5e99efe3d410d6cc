// The matrix of databases sees every fault: pg's own program on a real PostgreSQL, broken in one operation at a time.

import test from 'ava'
import { check } from '../../lab/databases/check.js'
import { Stored } from '../../lab/databases/stored.js'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { wantProgram } from '../servers/server.mjs'

const canRun = wantPostgres() !== undefined && wantProgram('psql') !== undefined
const onPostgres = canRun ? test.serial : test.serial.skip
const BULK = 500 // a missing or rounded row is seen among these as well as among 10,000
const round = (id) => BigInt.asIntN(64, BigInt(Number(id)))

let server
test.before(async () => {
  if (canRun) server = await startPostgres()
})
test.after.always(() => server?.stop())

let databases = 0

/** The inexact operations of pg's program with some methods replaced; `wrap` gets the context instead. */
async function faultsOf(broken, wrap = (context) => context) {
  const { ways } = await import('../../lab/databases/libraries/pg/program.js')
  const name = `broken_${databases++}`
  await server.query(`CREATE DATABASE ${name}`)
  const url = server.url.replace(/\/postgres$/, `/${name}`)
  const open = (context) => {
    const program = ways.exact(wrap(context))
    return { ...program, ...broken(program) }
  }
  const stored = new Stored('postgres', url)
  const results = await check({ open, url, database: 'postgres', isSigned: true, stored, bulk: BULK })
  return Object.entries(results).flatMap(([operation, sizes]) =>
    Object.values(sizes).every(({ outcome }) => outcome === 'exact') ? [] : [operation],
  )
}

const asNumber = (row) => ({ ...row, id: Number(row.id) })

const BROKEN = {
  read: (program) => ({ read: async (name) => asNumber(await program.read(name)) }),
  filter: (program) => ({ filter: (id) => program.filter(round(id)) }),
  range: (program) => ({ range: (min, max) => program.range(min, round(max)) }),
  order: (program) => ({ order: async () => (await program.order()).reverse() }),
  max: (program) => ({ max: async () => round(await program.max()) }),
  relation: (program) => ({
    async withOrders(id) {
      const { orders, ...customer } = await program.withOrders(id)
      return { ...customer, orders: orders.map((order) => ({ ...order, customerId: round(order.customerId) })) }
    },
  }),
  json: (program) => ({ toJson: async (id) => (await program.toJson(id)).replace(/"(-?\d+)"/, '$1') }),
  databaseJson: (program) => ({ databaseJson: async (id) => asNumber(await program.databaseJson(id)) }),
  insert: (program) => ({ insert: async (fields) => asNumber(await program.insert(fields)) }),
  nested: (program) => ({
    createWithOrders: async ({ name, orders }) => program.createWithOrders({ name, orders: orders.slice(1) }),
  }),
  update: (program) => ({ update: (id, fields) => program.update(round(id), fields) }),
  upsert: (program) => ({
    async upsert({ id, name }) {
      await program.upsert({ id: round(id), name })
    },
  }),
  manyToMany: (program) => ({
    async withTags(id) {
      const { tags, ...customer } = await program.withTags(id)
      return { ...customer, tags: tags.map((tag) => ({ ...tag, id: round(tag.id) })) }
    },
  }),
  bulk: (program) => ({ insertMany: (rows) => program.insertMany(rows.slice(1)) }),
}

onPostgres('an exact program has no fault', async (t) => {
  t.deepEqual(await faultsOf(() => ({})), [])
})

for (const [operation, broken] of Object.entries(BROKEN)) {
  onPostgres(`a fault in ${operation} is seen there, and nowhere else`, async (t) => {
    t.deepEqual(await faultsOf(broken), [operation])
  })
}

onPostgres('a default that stores a rounded ID is seen in every operation that stores it', async (t) => {
  const rounded = ({ newId, ...context }) => ({ ...context, newId: () => round(newId()) })
  t.deepEqual(await faultsOf(() => ({}), rounded), ['insert', 'nested', 'manyToMany', 'bulk'])
})

onPostgres('a default that is not called is seen', async (t) => {
  let own = 1n
  const ownIds = (context) => ({ ...context, newId: () => own++ })
  t.deepEqual(await faultsOf(() => ({}), ownIds), ['insert', 'nested', 'manyToMany', 'bulk'])
})
