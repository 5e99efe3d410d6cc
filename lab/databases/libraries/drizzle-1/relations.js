// The relations of the tables, the same on all databases.

import { defineRelations } from 'drizzle-orm-1'

export const relationsOf = (tables) =>
  defineRelations(tables, (r) => ({
    customers: {
      orders: r.many.orders({ from: r.customers.id, to: r.orders.customerId }),
      tags: r.many.tags({
        from: r.customers.id.through(r.customerTags.customerId),
        to: r.tags.id.through(r.customerTags.tagId),
      }),
    },
  }))
