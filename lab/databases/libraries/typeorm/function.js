// TypeORM with the default in the database: `flake_id()` in PostgreSQL, a trigger in MariaDB.

import { DataSource, EntitySchema } from 'typeorm'

const DATABASES = {
  postgres: { source: { type: 'postgres' }, column: { type: 'bigint' }, value: () => 'flake_id()' },
  mariadb: { source: { type: 'mariadb' }, column: { type: 'bigint', unsigned: true }, value: 0 },
}

export async function open({ database, url }) {
  const { source: connection, column, value } = DATABASES[database]
  const id = { ...column, primary: true, default: value }
  const Customer = new EntitySchema({
    name: 'Customer',
    tableName: 'customers',
    columns: { id, name: { type: 'text' } },
    relations: { orders: { type: 'one-to-many', target: 'Order', inverseSide: 'customer', cascade: true } },
  })
  const Order = new EntitySchema({
    name: 'Order',
    tableName: 'orders',
    columns: { id, customerId: { ...column, name: 'customer_id' }, item: { type: 'text' } },
    relations: {
      customer: { type: 'many-to-one', target: 'Customer', inverseSide: 'orders', joinColumn: { name: 'customer_id' } },
    },
  })
  const source = await new DataSource({ ...connection, url, entities: [Customer, Order] }).initialize()
  const customers = source.getRepository(Customer)
  return {
    createTables: () => source.synchronize(),

    insert: (row) => customers.save(row),

    createWithOrders: (row) => customers.save(row),

    insertMany: (rows) => customers.insert(rows),

    close: () => source.destroy(),
  }
}
