// better-sqlite3: prepared statements, without promises. It takes bigints, but gives numbers unless it is told otherwise.
// Where a program only calls newId(), yours calls `toSigned(flake.next())`.

import Database from 'better-sqlite3'
import { jsonReplacer, jsonReviver } from 'flakeforge'

const TABLES = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers, item TEXT NOT NULL)`

const UPSERT = `
  INSERT INTO customers (id, name) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING *`

function open({ url, newId }, idInJson, prepareDatabase = () => {}) {
  const db = new Database(url)
  prepareDatabase(db)
  db.pragma('journal_mode = WAL')

  const insertCustomer = (name) => {
    const { lastInsertRowid } = db.prepare('INSERT INTO customers (id, name) VALUES (?, ?)').run(newId(), name)
    return { id: lastInsertRowid, name }
  }

  const insertOrder = (customerId, { item }) =>
    db.prepare('INSERT INTO orders (id, customer_id, item) VALUES (?, ?, ?)').run(newId(), customerId, item)

  const createWithOrders = db.transaction(({ name, orders }) => {
    const customer = insertCustomer(name)
    for (const order of orders) insertOrder(customer.id, order)
    return customer
  })

  const insertMany = db.transaction((customers) => {
    const insert = db.prepare('INSERT INTO customers (id, name) VALUES (?, ?)')
    for (const { name } of customers) insert.run(newId(), name)
  })

  const program = {
    createTables: () => db.exec(TABLES),

    insert: ({ name }) => insertCustomer(name),

    read: (name) => db.prepare('SELECT id, name FROM customers WHERE name = ?').get(name),

    filter: (id) => db.prepare('SELECT id, name FROM customers WHERE id = ?').get(id),

    range: (min, max) => db.prepare('SELECT id, name FROM customers WHERE id BETWEEN ? AND ?').all(min, max),

    order: () => db.prepare('SELECT id, name FROM customers ORDER BY id').all(),

    max: () => db.prepare('SELECT max(id) AS id FROM customers').get().id,

    withOrders(id) {
      const orders = db.prepare('SELECT id, customer_id AS customerId, item FROM orders WHERE customer_id = ?').all(id)
      return { ...program.filter(id), orders }
    },

    createWithOrders,

    update: (id, { name }) => db.prepare('UPDATE customers SET name = ? WHERE id = ?').run(name, id),

    upsert: ({ id, name }) => db.prepare(UPSERT).get(id, name),

    insertMany,

    toJson: (id) => JSON.stringify(program.filter(id), jsonReplacer),

    fromJson: (text) => program.filter(JSON.parse(text, jsonReviver(['id'])).id),

    databaseJson(id) {
      const make = `SELECT json_object('id', ${idInJson}, 'name', name) AS customer FROM customers WHERE id = ?`
      return JSON.parse(db.prepare(make).get(id).customer)
    },

    close: () => db.close(),
  }
  return program
}

export const ways = {
  default: (context) => open(context, 'id'),
  exact: (context) => open(context, 'CAST(id AS TEXT)', (db) => db.defaultSafeIntegers()),
}
