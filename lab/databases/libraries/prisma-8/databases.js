// The differences between the databases: the packages, the types of the columns, and where the models are.

const tables = (id) => [
  `CREATE TABLE customers (id ${id} PRIMARY KEY, name text NOT NULL)`,
  `CREATE TABLE orders (id ${id} PRIMARY KEY, customer_id ${id} NOT NULL REFERENCES customers, item text NOT NULL)`,
  `CREATE TABLE tags (id ${id} PRIMARY KEY, label text NOT NULL)`,
  `CREATE TABLE customer_tags (customer_id ${id} NOT NULL REFERENCES customers ON DELETE CASCADE,
    tag_id ${id} NOT NULL REFERENCES tags ON DELETE CASCADE, PRIMARY KEY (customer_id, tag_id))`,
]

async function postgres() {
  const [{ default: open }, builder, { int8Column, textColumn }] = await Promise.all([
    import('@prisma/orm-postgres/runtime'),
    import('@prisma/orm-postgres/contract-builder'),
    import('@prisma/orm-postgres/adapter/column-types'),
  ])
  return {
    builder: { ...builder, text: textColumn },
    bigint: int8Column,
    connect: (url, options) => open({ ...options, url }),
    modelsOf: ({ orm }) => orm.public,
    async createTables(url, { nativeType }) {
      const { default: pg } = await import('pg')
      const client = new pg.Client(url)
      await client.connect()
      for (const statement of tables(nativeType)) await client.query(statement)
      await client.end()
    },
  }
}

async function sqlite() {
  const [{ default: open }, builder, { bigintColumn, textColumn }] = await Promise.all([
    import('@prisma/orm-sqlite/runtime'),
    import('@prisma/orm-sqlite/contract-builder'),
    import('@prisma/orm-sqlite/adapter/column-types'),
  ])
  return {
    builder: { ...builder, text: textColumn },
    bigint: bigintColumn,
    connect: (path, options) => open({ ...options, path }),
    modelsOf: ({ orm }) => orm,
    async createTables(path, { nativeType }) {
      const { DatabaseSync } = await import('node:sqlite')
      const db = new DatabaseSync(path)
      for (const statement of tables(nativeType)) db.exec(statement)
      db.close()
    },
  }
}

export const databases = { postgres, sqlite }
