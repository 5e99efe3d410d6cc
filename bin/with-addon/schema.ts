// The statements of `flakeforge schema`, which are those that the stores run themselves. It connects to nothing.

import { SCHEMA } from '../../lib/lease/stores/mysql/schema.ts'
import { readAddress } from '../../lib/lease/stores/postgres/address.ts'
import { DEFAULT_SCHEMA, schemaFor, tableIn } from '../../lib/lease/stores/postgres/schema.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { print } from '../parts/output.ts'

const { version } = manifest

/** The statements that the store itself runs if it has the rights, and the rights that members need. */
type Tables = { sql: string; grants: string[] }

/** By the database. The argument may be an address, whose schema is then the table's. */
const DATABASES: Record<string, (named: string) => Tables> = {
  postgres: (named) => {
    const schema = named.includes(':') ? readAddress(named).schema : DEFAULT_SCHEMA
    const grant = `GRANT SELECT, INSERT, UPDATE ON ${tableIn(schema)} TO your_role;`
    if (schema === DEFAULT_SCHEMA) return { sql: schemaFor(schema), grants: [grant] }
    return {
      sql: `CREATE SCHEMA IF NOT EXISTS "${schema}";\n${schemaFor(schema)}`,
      grants: [`GRANT USAGE ON SCHEMA "${schema}" TO your_role;`, grant],
    }
  },
  mysql: () => ({
    sql: SCHEMA,
    grants: [
      'GRANT SELECT, INSERT, UPDATE ON flakeforge_record TO your_user;',
      'GRANT SELECT, INSERT ON flakeforge_process TO your_user;',
    ],
  }),
}

/** Other names of them, such as the beginnings of their addresses. */
const ALIASES: Record<string, string> = { postgresql: 'postgres', mariadb: 'mysql' }

/** The tables of the given database, perhaps by the address of a server. */
function tablesOf(named: string) {
  const [scheme] = named.toLowerCase().split(':')
  const database = DATABASES[ALIASES[scheme] ?? scheme]
  if (database === undefined) throw usageError(`There are tables for postgres and mysql, but not for '${scheme}'.`)
  return database(named)
}

const header = (grants: string[]) => `-- The tables of flakeforge ${version}, printed by: flakeforge schema
-- Applying it again changes nothing. Members need only these rights:
${grants.map((grant) => `--   ${grant}\n`).join('')}`

export async function run({ values, operands }: Given) {
  const [named = 'postgres', ...more] = operands
  if (more.length > 0) throw usageError(`schema takes one database, so leave out '${more[0]}'.`)
  const { sql, grants } = tablesOf(named)
  const text = `${header(grants)}\n${sql.trim()}\n`
  await print(values.json ? `${JSON.stringify({ sql: text })}\n` : text)
}
