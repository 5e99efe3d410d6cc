// Prisma: a schema, a client that `npx prisma generate` generates from it (prepare.js), and a driver adapter. A field
// of type BigInt is a JavaScript bigint, and JSON.stringify rejects it. The schema has no default that calls your own
// function: an extension assigns the IDs, and ids.js has one that reaches nested rows. Where a program only calls
// newId(), yours calls `toSigned(flake.next())`, or `flake.nextBigInt()` for an unsigned column.

import assert from 'node:assert/strict'
import { jsonReplacer, jsonReviver } from 'flakeforge'
import { ADAPTERS } from './adapters.js'
import { withIds } from './ids.js'
import { TABLES } from './tables.js'

async function open({ database, url }, { extension, stringify, findWithOrders }) {
  const { PrismaClient } = await import(`./target/${database}/client.ts`)
  const prisma = new PrismaClient({ adapter: await ADAPTERS[database](url) }).$extends(extension)

  return {
    async createTables() {
      for (const statement of TABLES[database]) await prisma.$executeRawUnsafe(statement)
    },

    insert: (data) => prisma.customer.create({ data }),

    read: (name) => prisma.customer.findFirst({ where: { name } }),

    filter: (id) => prisma.customer.findUnique({ where: { id } }),

    range: (min, max) => prisma.customer.findMany({ where: { id: { gte: min, lte: max } } }),

    order: () => prisma.customer.findMany({ orderBy: { id: 'asc' } }),

    max: async () => (await prisma.customer.aggregate({ _max: { id: true } }))._max.id,

    withOrders: (id) => findWithOrders(prisma, id),

    createWithOrders: ({ name, orders }) =>
      prisma.customer.create({ data: { name, orders: { create: orders } }, include: { orders: true } }),

    update: (id, data) => prisma.customer.update({ where: { id }, data }),

    upsert: ({ id, name }) => prisma.customer.upsert({ where: { id }, create: { id, name }, update: { name } }),

    createWithTags: ({ name, tags }) => prisma.customer.create({ data: { name, tags: { create: tags } } }),

    withTags: (id) => prisma.customer.findUnique({ where: { id }, include: { tags: true } }),

    insertMany: (data) => prisma.customer.createMany({ data }),

    toJson: async (id) => stringify(await prisma.customer.findUnique({ where: { id } })),

    fromJson(text) {
      const { id } = JSON.parse(text, jsonReviver(['id']))
      return prisma.customer.findUnique({ where: { id } })
    },

    close: () => prisma.$disconnect(),
  }
}

/**
 * On PostgreSQL a relation is loaded by JSON that the database builds, or by a separate query: both must give the same.
 */
async function withEachStrategy(prisma, database, id) {
  const strategies = database === 'postgres' ? ['join', 'query'] : [undefined]
  const rows = strategies.map((relationLoadStrategy) =>
    prisma.customer.findUnique({ where: { id }, include: { orders: true }, relationLoadStrategy }),
  )
  const [first, second = first] = await Promise.all(rows)
  assert.deepEqual(second, first)
  return first
}

export const ways = {
  default: (context) =>
    open(context, {
      // As on Prisma's own pages: the outermost rows get an ID.
      extension: {
        query: {
          customer: {
            create: ({ args, query }) => query({ ...args, data: { id: context.newId(), ...args.data } }),
            createMany: ({ args, query }) =>
              query({ ...args, data: args.data.map((row) => ({ id: context.newId(), ...row })) }),
          },
        },
      },
      stringify: JSON.stringify,
      findWithOrders: (prisma, id) => prisma.customer.findUnique({ where: { id }, include: { orders: true } }),
    }),

  exact: (context) =>
    open(context, {
      extension: withIds(context.newId),
      stringify: (row) => JSON.stringify(row, jsonReplacer),
      findWithOrders: (prisma, id) => withEachStrategy(prisma, context.database, id),
    }),
}
