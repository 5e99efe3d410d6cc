// A Prisma extension sees only the outermost row of a nested write. This one gives an ID to every row that is created
// below it too: by create, createMany, connectOrCreate and upsert, at any depth. A row that has an ID keeps it.

const WRITES = ['create', 'createMany', 'connectOrCreate', 'upsert', 'update']

/**
 * Whether a field's value is a write to a relation. The value of a Json field with one of these keys looks the same.
 */
const isRelation = (value) => value?.constructor === Object && WRITES.some((name) => name in value)

const each = (value, change) => (Array.isArray(value) ? value.map(change) : change(value))

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))

/** The extension: `prisma.$extends(withIds(() => toSigned(flake.next())))`. The key of every model must be `id`. */
export function withIds(newId) {
  /** One row to create, or several. */
  const created = (data) =>
    each(data, (row) => {
      const id = row.id ?? newId() // before those of the rows below it
      return { ...changed(row), id }
    })

  /** The fields of a row, with IDs for the rows that its relations create. */
  const changed = (row) => mapValues(row, (value) => (isRelation(value) ? mapValues(value, write) : value))

  const write = (value, name) => (value === undefined ? value : (writes[name]?.(value) ?? value))

  const writes = {
    create: created,
    createMany: (args) => ({ ...args, data: created(args.data) }),
    connectOrCreate: (args) => each(args, (one) => ({ ...one, create: created(one.create) })),
    upsert: (args) => each(args, (one) => ({ ...one, create: created(one.create), update: changed(one.update) })),
    update: (args) => each(args, (one) => ('data' in one ? { ...one, data: changed(one.data) } : changed(one))),
  }

  const create = ({ args, query }) => query({ ...args, data: created(args.data) })
  const update = ({ args, query }) => query({ ...args, data: changed(args.data) })
  const upsert = ({ args, query }) => query(writes.upsert(args))
  const $allModels = { create, createMany: create, createManyAndReturn: create, update, upsert }
  return { name: 'withIds', query: { $allModels } }
}
