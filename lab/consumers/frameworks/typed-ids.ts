// Typed IDs in the types of other libraries: it only has to compile.

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { customType, pgTable } from 'drizzle-orm/pg-core'
import { type Id, idType } from 'flakeforge'
import * as v from 'valibot'
import * as z from 'zod'

const Order = idType('ord')

export const standard: StandardSchemaV1<string, Id<'ord'>> = Order
export const jsonSchema: StandardJSONSchemaV1<string, Id<'ord'>> = Order
export const output: (id: StandardSchemaV1.InferOutput<typeof Order>) => Id<'ord'> = (id) => id

export const zod: (text: string) => Id<'ord'> = (text) =>
  z.object({ id: z.custom<Id<'ord'>>(Order.is) }).parse({ id: text }).id
export const valibot: (text: string) => Id<'ord'> = (text) => v.parse(v.custom<Id<'ord'>>(Order.is), text)

const orderId = customType<{ data: Id<'ord'>; driverData: string }>({
  dataType: () => 'varchar(17)',
  toDriver: String,
  fromDriver: Order.parse,
})
export const orders = pgTable('orders', { id: orderId().primaryKey() })
export const row: (id: Id<'ord'>) => typeof orders.$inferInsert = (id) => ({ id })
