// better-sqlite3 reads integers as numbers and rounds them, or as bigints, even dates and counts, which MikroORM does
// not expect. Here only values that do not fit a number are bigints, as with other databases' clients. Nothing is
// rounded.

import Database from 'better-sqlite3'
import { SqliteDialect } from 'kysely'

const narrow = (value) => (typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value)

const narrowRow = (row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, narrow(value)]))

class ExactDatabase extends Database {
  prepare(sql) {
    const statement = super.prepare(sql)
    if (!statement.reader) return statement
    statement.safeIntegers()
    return {
      reader: true,
      all: (values) => statement.all(values).map(narrowRow),
      *iterate(values) {
        for (const row of statement.iterate(values)) yield narrowRow(row) // em.stream
      },
    }
  }
}

/** MikroORM's `driverOptions` for a database file. */
export const readingBigInts = (file) => () => new SqliteDialect({ database: new ExactDatabase(file) })
