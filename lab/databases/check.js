// Drives one library's program through every operation, with IDs of every size, and compares the results and the stored
// values with the truth. The database's own command stores the rows that a check reads, and reads the stored ones, so
// that no operation hides another's fault.

import { expectGiven, expectId, expectRow, expectRows, expectSame, Inexact } from './compare.js'
import { Ids, SIZES } from './ids.js'

export const BULK = 10_000

/**
 * The arguments and results of each operation of a program: README.md. Here: whether it did that. Operations that write
 * come last.
 */
export const OPERATIONS = {
  async read({ program, middle }) {
    for (const customer of middle) expectRow(await program.read(customer.name), customer)
  },

  async filter({ program, middle }) {
    for (const customer of middle) expectRow(await program.filter(customer.id), customer)
  },

  async range({ program, middle, ids }) {
    const rows = await program.range(...ids.range(1))
    expectRows(rows.toSorted(byName), middle.toSorted(byName), 'the range')
  },

  async order({ program, customers }) {
    expectRows(await program.order(), customers, 'the table')
  },

  /** A library's type for a column does not apply to an aggregate of it. */
  async max({ program, customers }) {
    expectId(await program.max(), customers.at(-1).id, 'max(id)')
  },

  async relation({ program, middle, orders }) {
    for (const customer of middle.slice(0, 2)) {
      const row = await program.withOrders(customer.id)
      expectRow(row, customer)
      expectOrders(
        row.orders,
        orders.filter(({ customerId }) => customerId === customer.id),
      )
    }
  },

  /** A client parses the text with JSON.parse, and sends the ID back unchanged. */
  async json({ program, middle }) {
    for (const customer of middle) {
      const text = await program.toJson(customer.id)
      expectSame(typeof text, 'string', 'the type of the JSON')
      expectRow(JSON.parse(text), customer)
      expectRow(await program.fromJson(text), customer)
    }
  },

  async databaseJson({ program, middle }) {
    for (const customer of middle) expectRow(await program.databaseJson(customer.id), customer)
  },

  async insert({ program, given, stored }) {
    const customer = await program.insert({ name: 'inserted' })
    const [id] = expectGiven(given, 1)
    expectRows(await stored.customers(['inserted']), [{ id, name: 'inserted' }], 'what is stored')
    expectRow(customer, { id, name: 'inserted' })
  },

  async nested({ program, given, stored }) {
    const customer = await program.createWithOrders({ name: 'nested', orders: [{ item: 'first' }, { item: 'second' }] })
    const ids = expectGiven(given, 3)
    const [row] = await stored.customers(['nested'])
    expectSame(ids.includes(BigInt(row?.id ?? 0)), true, 'the stored ID one of those that were made')
    const rows = await stored.orders(['first', 'second'])
    expectSame(rows.length, 2, 'the number of stored orders')
    for (const { id, customerId } of rows) {
      expectSame(ids.includes(BigInt(id)), true, 'the stored ID one of those that were made')
      expectId(customerId, BigInt(row.id), 'customerId')
    }
    expectId(customer.id, BigInt(row.id))
  },

  async update({ program, middle, customers, stored }) {
    const wanted = customers.map((each) => ({ ...each }))
    for (const { id, name } of middle) {
      await program.update(id, { name: `${name} updated` })
      wanted.find((each) => each.id === id).name = `${name} updated`
    }
    const names = wanted.flatMap(({ name }) => [name, name.replace(' updated', '')])
    expectRows((await stored.customers(names)).toSorted(byName), wanted.toSorted(byName), 'what is stored')
  },

  /** Existing rows, and a missing one. A library may return the row, or nothing. */
  async upsert({ program, middle, ids, stored }) {
    const rows = [...middle.map(({ id }) => id), ids.next()].map((id, i) => ({ id, name: `upserted ${i}` }))
    for (const row of rows) expectRow((await program.upsert(row)) ?? row, row)
    const names = rows.map(({ name }) => name)
    expectRows((await stored.customers(names)).toSorted(byName), rows, 'what is stored')
  },

  async manyToMany({ program, given, stored }) {
    const customer = await program.createWithTags({ name: 'tagged', tags: [{ label: 'new' }, { label: 'big' }] })
    const ids = expectGiven(given, 3)
    const rows = await stored.tagged('tagged')
    expectSame(rows.length, 2, 'the number of stored tags')
    const [wanted] = await stored.customers(['tagged'])
    for (const id of [wanted.id, ...rows.map((tag) => tag.id)])
      expectSame(ids.includes(BigInt(id)), true, 'the stored ID one of those that were made')
    const read = await program.withTags(BigInt(wanted.id))
    for (const row of [customer, read]) expectRow(row, { ...wanted, id: BigInt(wanted.id) })
    expectSame(read.tags.length, 2, 'the number of its tags')
    for (const { id, label } of rows) {
      const tag = read.tags.find((each) => each.label === label)
      expectId(tag?.id, BigInt(id), 'tags[].id')
    }
  },

  async bulk({ program, given, stored, bulk }) {
    await program.insertMany(Array.from({ length: bulk }, (_, i) => ({ name: `bulk ${i}` })))
    const ids = expectGiven(given, bulk)
    const rows = await stored.bulk()
    expectSame(rows.length, bulk, 'the number of stored rows')
    const missing = new Set(ids)
    for (const { id } of rows) missing.delete(BigInt(id))
    if (missing.size > 0)
      throw new Inexact(`${missing.size} of ${bulk} IDs are not stored, the first is ${[...missing][0]}n`)
  },
}

const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

function expectOrders(rows, wanted) {
  expectSame(rows.length, wanted.length, 'the number of its orders')
  for (const order of wanted) {
    const row = rows.find(({ item }) => item === order.item)
    expectSame(row?.item, order.item, 'the item')
    expectId(row.id, order.id, 'orders[].id')
    expectId(row.customerId, order.customerId, 'orders[].customerId')
  }
}

/** The rows before an operation: customers of three ms, and orders of two neighbours in the second. */
function seeds(ids) {
  const sets = [0, 1, 2].map((ms) => ids.edge(ms))
  const named = sets.map((set, ms) => set.map((id, i) => ({ id, name: `customer ${ms}-${i}` })))
  const customers = named.flat().sort((a, b) => (a.id < b.id ? -1 : 1))
  const middle = named[1]
  const orders = ids.edge(3).map((id, i) => ({ id, customerId: middle[i % 2].id, item: `order ${i}` }))
  return { customers, middle, orders }
}

/** 'exact', or the error: { outcome, detail }. */
export async function outcomeOf(check, state) {
  try {
    await check(state)
    return { outcome: 'exact' }
  } catch (error) {
    return { outcome: error instanceof Inexact ? 'inexact' : 'error', detail: messageOf(error) }
  }
}

/** The error's own words: some libraries put the failed statement, or a piece of their source, before them. */
function messageOf(error) {
  const lines = String(error?.message || error?.cause?.message || error)
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const isPreamble = /^(?:Failed query|Invalid `)/.test(lines[0])
  const line = isPreamble ? (error.cause?.message ?? lines.at(-1)) : lines[0]
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

/** The method of a program that an operation calls first: without it the operation is not offered. */
const METHODS = {
  relation: 'withOrders',
  json: 'toJson',
  nested: 'createWithOrders',
  manyToMany: 'createWithTags',
  bulk: 'insertMany',
}
const isOffered = (program, name) => typeof program[METHODS[name] ?? name] === 'function'

/**
 * Every operation at every size. `bulk` is the number of rows that are inserted at once.
 * @param {{ open: Function, url: string, database: string, isSigned: boolean, stored: import('./stored.js').Stored, bulk?: number }} options
 * @returns {Promise<Record<string, Record<string, { outcome: string, detail?: string }>>>} by operation, then by size
 */
export async function check({ open, url, database, isSigned, stored, bulk = BULK }) {
  let ids
  let given = []
  const newId = () => {
    const id = ids.next()
    given.push(id)
    return id
  }
  const program = await open({ url, database, newId })
  try {
    await program.createTables()
    const results = {}
    for (const size of Object.keys(SIZES)) {
      ids = new Ids(size, isSigned)
      const rows = seeds(ids)
      await stored.replaceAll(rows)
      for (const [name, run] of Object.entries(OPERATIONS)) {
        given = []
        results[name] ??= {}
        results[name][size] = isOffered(program, name)
          ? await outcomeOf(run, { program, ids, given, stored, bulk, ...rows })
          : { outcome: 'not offered' }
      }
    }
    return results
  } finally {
    await program.close()
  }
}
