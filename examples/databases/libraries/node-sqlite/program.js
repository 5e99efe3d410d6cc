// node:sqlite, which comes with Node.js: prepared statements, without promises. It takes bigints. It gives numbers, and throws
// where one does not fit, unless it is told to give bigints.
// Where a program only calls newId(), yours calls `toSigned(flake.next())`.

import { DatabaseSync } from 'node:sqlite'
import { jsonReplacer, jsonReviver } from '../../../../index.mjs'

const TABLES = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers, item TEXT NOT NULL)`

function open({ url, newId }, idInJson, readBigInts = false) {
  const db = new DatabaseSync(url)

  function prepare(sql) {
    const statement = db.prepare(sql)
    if (readBigInts) statement.setReadBigInts(true)
    return statement
  }

  function inTransaction(run) {
    db.exec('BEGIN')
    try {
      const result = run()
      db.exec('COMMIT')
      return result
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }

  const insertCustomer = (name) =>
    prepare('INSERT INTO customers (id, name) VALUES (?, ?) RETURNING *').get(newId(), name)

  const insertOrder = (customerId, { item }) =>
    prepare('INSERT INTO orders (id, customer_id, item) VALUES (?, ?, ?)').run(newId(), customerId, item)

  const program = {
    createTables: () => db.exec(TABLES),

    insert: ({ name }) => insertCustomer(name),

    read: (name) => prepare('SELECT id, name FROM customers WHERE name = ?').get(name),

    filter: (id) => prepare('SELECT id, name FROM customers WHERE id = ?').get(id),

    range: (min, max) => prepare('SELECT id, name FROM customers WHERE id BETWEEN ? AND ?').all(min, max),

    order: () => prepare('SELECT id, name FROM customers ORDER BY id').all(),

    withOrders(id) {
      const orders = prepare('SELECT id, customer_id AS customerId, item FROM orders WHERE customer_id = ?').all(id)
      return { ...program.filter(id), orders }
    },

    createWithOrders: ({ name, orders }) =>
      inTransaction(() => {
        const customer = insertCustomer(name)
        for (const order of orders) insertOrder(customer.id, order)
        return customer
      }),

    update: (id, { name }) => prepare('UPDATE customers SET name = ? WHERE id = ?').run(name, id),

    insertMany: (customers) =>
      inTransaction(() => {
        const insert = prepare('INSERT INTO customers (id, name) VALUES (?, ?)')
        for (const { name } of customers) insert.run(newId(), name)
      }),

    toJson: (id) => JSON.stringify(program.filter(id), jsonReplacer),

    fromJson: (text) => program.filter(JSON.parse(text, jsonReviver(['id'])).id),

    databaseJson(id) {
      const make = `SELECT json_object('id', ${idInJson}, 'name', name) AS customer FROM customers WHERE id = ?`
      return JSON.parse(prepare(make).get(id).customer)
    },

    close: () => db.close(),
  }
  return program
}

export const ways = {
  default: (context) => open(context, 'id'),
  exact: (context) => open(context, 'CAST(id AS TEXT)', true),
}
