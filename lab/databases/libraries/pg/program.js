// pg: SQL by hand. A bigint is sent as its decimal text, and a column of type bigint is returned as text. Where a
// program only calls newId(), yours calls `toSigned(flake.next())`.

import { jsonReplacer, jsonReviver } from 'flakeforge'
import pg from 'pg'

const TABLES = `
  CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL);
  CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customers, item text NOT NULL);
  CREATE TABLE tags (id bigint PRIMARY KEY, label text NOT NULL);
  CREATE TABLE customer_tags (customer_id bigint REFERENCES customers ON DELETE CASCADE, tag_id bigint REFERENCES tags)`

const UPSERT = `
  INSERT INTO customers (id, name) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING *`

function open({ url, newId }, idInJson) {
  const pool = new pg.Pool({ connectionString: url })
  const rowsOf = async (text, values) => (await pool.query(text, values)).rows

  async function insertOrder(client, customerId, { item }) {
    const values = [newId(), customerId, item]
    await client.query('INSERT INTO orders (id, customer_id, item) VALUES ($1, $2, $3)', values)
  }

  const program = {
    createTables: () => pool.query(TABLES),

    async insert({ name }) {
      const [row] = await rowsOf('INSERT INTO customers (id, name) VALUES ($1, $2) RETURNING *', [newId(), name])
      return row
    },

    async read(name) {
      const [row] = await rowsOf('SELECT id, name FROM customers WHERE name = $1', [name])
      return row
    },

    async filter(id) {
      const [row] = await rowsOf('SELECT id, name FROM customers WHERE id = $1', [id])
      return row
    },

    range: (min, max) => rowsOf('SELECT id, name FROM customers WHERE id BETWEEN $1 AND $2', [min, max]),

    order: () => rowsOf('SELECT id, name FROM customers ORDER BY id'),

    async max() {
      const [{ id }] = await rowsOf('SELECT max(id) AS id FROM customers')
      return id
    },

    async withOrders(id) {
      const customer = await program.filter(id)
      const orders = await rowsOf('SELECT id, customer_id AS "customerId", item FROM orders WHERE customer_id = $1', [
        id,
      ])
      return { ...customer, orders }
    },

    async createWithOrders({ name, orders }) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const values = [newId(), name]
        const { rows } = await client.query('INSERT INTO customers (id, name) VALUES ($1, $2) RETURNING *', values)
        for (const order of orders) await insertOrder(client, rows[0].id, order)
        await client.query('COMMIT')
        return rows[0]
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },

    async createWithTags({ name, tags }) {
      const customer = await program.insert({ name })
      for (const { label } of tags) {
        const [tag] = await rowsOf('INSERT INTO tags (id, label) VALUES ($1, $2) RETURNING id', [newId(), label])
        await pool.query('INSERT INTO customer_tags VALUES ($1, $2)', [customer.id, tag.id])
      }
      return customer
    },

    async withTags(id) {
      const tags = 'SELECT id, label FROM tags JOIN customer_tags ON tag_id = id WHERE customer_id = $1'
      return { ...(await program.filter(id)), tags: await rowsOf(tags, [id]) }
    },

    update: (id, { name }) => pool.query('UPDATE customers SET name = $1 WHERE id = $2', [name, id]),

    async upsert({ id, name }) {
      const [row] = await rowsOf(UPSERT, [id, name])
      return row
    },

    insertMany: (customers) =>
      pool.query('INSERT INTO customers (id, name) SELECT * FROM unnest($1::bigint[], $2::text[])', [
        customers.map(() => newId()),
        customers.map(({ name }) => name),
      ]),

    toJson: async (id) => JSON.stringify(await program.filter(id), jsonReplacer),

    fromJson: (text) => program.filter(JSON.parse(text, jsonReviver(['id'])).id),

    async databaseJson(id) {
      const make = `SELECT json_build_object('id', ${idInJson}, 'name', name) AS customer FROM customers WHERE id = $1`
      const [{ customer }] = await rowsOf(make, [id])
      return customer
    },

    close: () => pool.end(),
  }
  return program
}

export const ways = {
  default: (context) => open(context, 'id'),
  exact(context) {
    pg.types.setTypeParser(20, BigInt) // int8
    return open(context, 'id::text')
  },
}
