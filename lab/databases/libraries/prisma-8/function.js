// Prisma 8 with the default in the database: `flake_id()`.

import { contractOf } from './contract.js'
import { databases } from './databases.js'

export async function open({ database, url }) {
  const { builder, bigint, connect, modelsOf, createTables } = await databases[database]()
  const contract = contractOf(builder, bigint, (field, type) => field.column(type).default(builder.sql`flake_id()`))
  // The client would look for a mark that `npx prisma db init` writes when it creates the tables.
  const db = connect(url, { contract, extensions: [], verifyMarker: false })
  const { Customer } = modelsOf(db)
  return {
    createTables: () => createTables(url, { nativeType: `${bigint.nativeType} DEFAULT flake_id()` }),

    insert: (row) => Customer.create(row),

    createWithOrders: ({ name, orders }) => Customer.create({ name, orders: (relation) => relation.create(orders) }),

    insertMany: (rows) => Customer.createAll(rows),

    close: () => db.close(),
  }
}
