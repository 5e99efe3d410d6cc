// The database with the tables of a store. It is determined once and named in every statement, so a `USE` of the user's
// cannot move the records.

import { isAbsent } from '../../base/check.ts'
import { optionRangeError, optionTypeError } from '../../base/errors.ts'
import { bytes, quoted, SETTINGS } from './statement.ts'

/** The two tables as statements name them, and the SQL for the name of their database. */
export interface Tables {
  record: string
  process: string
  database: string
}

/** The tables in a database. */
export const tablesIn = (database: string): Tables => ({
  record: `${quoted(database)}.flakeforge_record`,
  process: `${quoted(database)}.flakeforge_process`,
  database: `CONVERT(${bytes(database)} USING utf8mb4)`,
})

const LONGEST_NAME = 64 // characters: a longer name is an error of the server

/** The option `database`; undefined for the client's current one. */
export function readDatabase(database: unknown) {
  if (isAbsent(database)) return undefined
  const wanted = `the name of a database: 1 to ${LONGEST_NAME} characters, no NUL, no space at the end`
  if (typeof database !== 'string') throw optionTypeError('database', database, wanted)
  const isName =
    /^[^\0\p{Cs}\u{10000}-\u{10ffff}]+$/u.test(database) && database.length <= LONGEST_NAME && !database.endsWith(' ')
  if (!isName) throw optionRangeError('database', database, wanted)
  return database
}

/** The place: the current database, whether the server folds names to lower case, and a readable name of the server. */
export const PLACE = `${SETTINGS}
SELECT CAST(CONVERT(DATABASE() USING utf8mb4) AS BINARY), @@global.lower_case_table_names,
  CAST(CONVERT(CONCAT_WS(':', @@global.hostname, @@global.port) USING utf8mb4) AS BINARY)`
