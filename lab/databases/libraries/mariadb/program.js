// mariadb: SQL by hand. A BIGINT is a bigint in both directions, without a setting. JSON needs care. Where a program
// only calls newId(), yours calls `flake.nextBigInt()`: all 64 bits fit into BIGINT UNSIGNED.

import mariadb from 'mariadb'

const TABLES = [
  'CREATE TABLE customers (id BIGINT UNSIGNED PRIMARY KEY, name VARCHAR(255) NOT NULL)',
  `CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY, customer_id BIGINT UNSIGNED NOT NULL, item VARCHAR(255) NOT NULL,
    FOREIGN KEY (customer_id) REFERENCES customers (id))`,
]

const INSERT_CUSTOMER = 'INSERT INTO customers (id, name) VALUES (?, ?)'

function open({ url, newId }, { idInJson, replacer }) {
  const pool = mariadb.createPool(url.replace('mysql:', 'mariadb:'))

  const program = {
    async createTables() {
      for (const table of TABLES) await pool.query(table)
    },

    async insert({ name }) {
      const [row] = await pool.query(`${INSERT_CUSTOMER} RETURNING id, name`, [newId(), name])
      return row
    },

    async read(name) {
      const [row] = await pool.query('SELECT id, name FROM customers WHERE name = ?', [name])
      return row
    },

    async filter(id) {
      const [row] = await pool.execute('SELECT id, name FROM customers WHERE id = ?', [id])
      return row
    },

    range: (min, max) => pool.execute('SELECT id, name FROM customers WHERE id BETWEEN ? AND ?', [min, max]),

    order: () => pool.query('SELECT id, name FROM customers ORDER BY id'),

    async max() {
      const [{ id }] = await pool.query('SELECT max(id) AS id FROM customers')
      return id
    },

    async withOrders(id) {
      const customer = await program.filter(id)
      const orders = await pool.query('SELECT id, customer_id AS customerId, item FROM orders WHERE customer_id = ?', [
        id,
      ])
      return { ...customer, orders }
    },

    async createWithOrders({ name, orders }) {
      const connection = await pool.getConnection()
      try {
        await connection.beginTransaction()
        const [customer] = await connection.query(`${INSERT_CUSTOMER} RETURNING id, name`, [newId(), name])
        const rows = orders.map(({ item }) => [newId(), customer.id, item])
        await connection.batch('INSERT INTO orders (id, customer_id, item) VALUES (?, ?, ?)', rows)
        await connection.commit()
        return customer
      } catch (error) {
        await connection.rollback()
        throw error
      } finally {
        connection.release()
      }
    },

    update: (id, { name }) => pool.execute('UPDATE customers SET name = ? WHERE id = ?', [name, id]),

    async upsert({ id, name }) {
      const insert = `${INSERT_CUSTOMER} ON DUPLICATE KEY UPDATE name = VALUES(name) RETURNING id, name`
      const [row] = await pool.query(insert, [id, name])
      return row
    },

    insertMany: (customers) =>
      pool.batch(
        INSERT_CUSTOMER,
        customers.map(({ name }) => [newId(), name]),
      ),

    toJson: async (id) => JSON.stringify(await program.filter(id), replacer),

    fromJson: (text) => program.filter(JSON.parse(text).id),

    async databaseJson(id) {
      const make = `SELECT JSON_OBJECT('id', ${idInJson}, 'name', name) AS customer FROM customers WHERE id = ?`
      const [{ customer }] = await pool.query(make, [id])
      return customer
    },

    close: () => pool.end(),
  }
  return program
}

/** The same as jsonReplacer of flakeforge. */
const bigintsAsText = (_key, value) => (typeof value === 'bigint' ? String(value) : value)

export const ways = {
  default: (context) => open(context, { idInJson: 'id' }),
  exact: (context) => open(context, { idInJson: 'CAST(id AS CHAR)', replacer: bigintsAsText }),
}
