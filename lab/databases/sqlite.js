// The operations on SQLite by hand, over the common part of better-sqlite3 and node:sqlite: prepared statements,
// without promises.

import { jsonReplacer, jsonReviver } from 'flakeforge'

const TABLES = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers, item TEXT NOT NULL)`

const UPSERT = `
  INSERT INTO customers (id, name) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING *`

/** @param {string} idInJson how SQL writes an ID into JSON */
export function programOf({ db, inTransaction, newId, idInJson }) {
  const insertCustomer = (name) => {
    const { lastInsertRowid } = db.prepare('INSERT INTO customers (id, name) VALUES (?, ?)').run(newId(), name)
    return { id: lastInsertRowid, name }
  }

  const insertOrder = (customerId, { item }) =>
    db.prepare('INSERT INTO orders (id, customer_id, item) VALUES (?, ?, ?)').run(newId(), customerId, item)

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

    createWithOrders: ({ name, orders }) =>
      inTransaction(() => {
        const customer = insertCustomer(name)
        for (const order of orders) insertOrder(customer.id, order)
        return customer
      }),

    update: (id, { name }) => db.prepare('UPDATE customers SET name = ? WHERE id = ?').run(name, id),

    upsert: ({ id, name }) => db.prepare(UPSERT).get(id, name),

    insertMany: (customers) =>
      inTransaction(() => {
        const insert = db.prepare('INSERT INTO customers (id, name) VALUES (?, ?)')
        for (const { name } of customers) insert.run(newId(), name)
      }),

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
