// postgres.js: SQL in template strings. A bigint is sent as an int8, and an int8 is returned as text, or as a bigint
// with `types`. Where a program only calls newId(), yours calls `toSigned(flake.next())`.

import { jsonReplacer, jsonReviver } from 'flakeforge'
import postgres from 'postgres'

function open({ url, newId }, options, idInJson) {
  const sql = postgres(url, { onnotice: () => {}, ...options })

  const program = {
    async createTables() {
      await sql`CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL)`
      await sql`
        CREATE TABLE orders (id bigint PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customers, item text NOT NULL)`
    },

    async insert({ name }) {
      const [row] = await sql`INSERT INTO customers ${sql({ id: newId(), name })} RETURNING *`
      return row
    },

    async read(name) {
      const [row] = await sql`SELECT id, name FROM customers WHERE name = ${name}`
      return row
    },

    async filter(id) {
      const [row] = await sql`SELECT id, name FROM customers WHERE id = ${id}`
      return row
    },

    range: (min, max) => sql`SELECT id, name FROM customers WHERE id BETWEEN ${min} AND ${max}`,

    order: () => sql`SELECT id, name FROM customers ORDER BY id`,

    async max() {
      const [{ id }] = await sql`SELECT max(id) AS id FROM customers`
      return id
    },

    async withOrders(id) {
      const customer = await program.filter(id)
      const orders = await sql`SELECT id, customer_id AS "customerId", item FROM orders WHERE customer_id = ${id}`
      return { ...customer, orders }
    },

    createWithOrders: ({ name, orders }) =>
      sql.begin(async (begun) => {
        const [row] = await begun`INSERT INTO customers ${begun({ id: newId(), name })} RETURNING *`
        const rows = orders.map(({ item }) => ({ id: newId(), customer_id: row.id, item }))
        await begun`INSERT INTO orders ${begun(rows)}`
        return row
      }),

    update: (id, { name }) => sql`UPDATE customers SET name = ${name} WHERE id = ${id}`,

    async upsert(customer) {
      const [row] = await sql`
        INSERT INTO customers ${sql(customer)} ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING *`
      return row
    },

    insertMany: (customers) => sql`INSERT INTO customers ${sql(customers.map(({ name }) => ({ id: newId(), name })))}`,

    toJson: async (id) => JSON.stringify(await program.filter(id), jsonReplacer),

    fromJson: (text) => program.filter(JSON.parse(text, jsonReviver(['id'])).id),

    async databaseJson(id) {
      const [{ customer }] = await sql`
        SELECT json_build_object('id', ${sql.unsafe(idInJson)}, 'name', name) AS customer FROM customers WHERE id = ${id}`
      return customer
    },

    close: () => sql.end(),
  }
  return program
}

export const ways = {
  default: (context) => open(context, {}, 'id'),
  exact: (context) => open(context, { types: { bigint: postgres.BigInt } }, 'id::text'),
}
