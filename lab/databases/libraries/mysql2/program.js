// mysql2: SQL by hand. A bigint is sent exactly; the returned value is a JavaScript number unless `supportBigNumbers`
// is set. Where a program only calls newId(), yours calls `flake.nextBigInt()`: all 64 bits fit into BIGINT UNSIGNED.

import mysql from 'mysql2/promise'

const TABLES = [
  'CREATE TABLE customers (id BIGINT UNSIGNED PRIMARY KEY, name VARCHAR(255) NOT NULL)',
  `CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY, customer_id BIGINT UNSIGNED NOT NULL, item VARCHAR(255) NOT NULL,
    FOREIGN KEY (customer_id) REFERENCES customers (id))`,
]

function open({ url, newId }, options) {
  const pool = mysql.createPool({ uri: url, ...options })

  // execute() prepares a statement and sends the values separately; query() writes them into the text.
  const rowsOf = async (text, values) => (await pool.execute(text, values))[0]

  const program = {
    async createTables() {
      for (const table of TABLES) await pool.query(table)
    },

    async insert({ name }) {
      const id = newId() // `insertId` of the result is for AUTO_INCREMENT: it is 0 here
      await pool.execute('INSERT INTO customers (id, name) VALUES (?, ?)', [id, name])
      return { id, name }
    },

    async read(name) {
      const [row] = await rowsOf('SELECT id, name FROM customers WHERE name = ?', [name])
      return row
    },

    async filter(id) {
      const [row] = await rowsOf('SELECT id, name FROM customers WHERE id = ?', [id])
      return row
    },

    range: (min, max) => rowsOf('SELECT id, name FROM customers WHERE id BETWEEN ? AND ?', [min, max]),

    async order() {
      const [rows] = await pool.query('SELECT id, name FROM customers ORDER BY id')
      return rows
    },

    async max() {
      const [{ id }] = await rowsOf('SELECT max(id) AS id FROM customers')
      return id
    },

    async withOrders(id) {
      const customer = await program.filter(id)
      const orders = await rowsOf('SELECT id, customer_id AS customerId, item FROM orders WHERE customer_id = ?', [id])
      return { ...customer, orders }
    },

    async createWithOrders({ name, orders }) {
      const connection = await pool.getConnection()
      try {
        await connection.beginTransaction()
        const id = newId()
        await connection.query('INSERT INTO customers SET ?', { id, name })
        const rows = orders.map(({ item }) => [newId(), id, item])
        await connection.query('INSERT INTO orders (id, customer_id, item) VALUES ?', [rows])
        await connection.commit()
        return { id, name }
      } catch (error) {
        await connection.rollback()
        throw error
      } finally {
        connection.release()
      }
    },

    update: (id, { name }) => pool.execute('UPDATE customers SET name = ? WHERE id = ?', [name, id]),

    async upsert({ id, name }) {
      const insert = 'INSERT INTO customers (id, name) VALUES (?, ?) ON DUPLICATE KEY UPDATE name = VALUES(name)'
      await pool.execute(insert, [id, name])
    },

    insertMany: (customers) =>
      pool.query('INSERT INTO customers (id, name) VALUES ?', [customers.map(({ name }) => [newId(), name])]),

    toJson: async (id) => JSON.stringify(await program.filter(id)),

    // As a bigint again: MySQL 8 may compare text with a BIGINT as floating-point numbers.
    fromJson: (text) => program.filter(BigInt(JSON.parse(text).id)),

    async databaseJson(id) {
      const make = "SELECT JSON_OBJECT('id', id, 'name', name) AS customer FROM customers WHERE id = ?"
      const [{ customer }] = await rowsOf(make, [id])
      return customer
    },

    close: () => pool.end(),
  }
  return program
}

export const ways = {
  default: (context) => open(context),
  exact: (context) => open(context, { supportBigNumbers: true }), // and bigNumberStrings: true for text at every size
}
