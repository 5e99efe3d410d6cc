// Prisma with the default in the database: `@default(dbgenerated("flake_id()"))`, and a trigger in MariaDB. The schemas are
// function-postgres.prisma and function-mariadb.prisma, the tables those that `npx prisma db push` would make of them.

import { ADAPTERS } from './adapters.js'
import { TABLES } from './tables.js'

const DEFAULTS = { postgres: 'flake_id()', mariadb: '0' }

export async function open({ database, url }) {
  const { PrismaClient } = await import(`./target/function-${database}/client.ts`)
  const prisma = new PrismaClient({ adapter: await ADAPTERS[database](url) })
  const withDefault = (statement) =>
    statement.replace('NOT NULL PRIMARY KEY', `NOT NULL DEFAULT ${DEFAULTS[database]} PRIMARY KEY`)
  return {
    async createTables() {
      for (const statement of TABLES[database]) await prisma.$executeRawUnsafe(withDefault(statement))
    },

    insert: (data) => prisma.customer.create({ data }),

    createWithOrders: ({ name, orders }) =>
      prisma.customer.create({ data: { name, orders: { create: orders } }, include: { orders: true } }),

    insertMany: (data) => prisma.customer.createMany({ data }),

    close: () => prisma.$disconnect(),
  }
}
