// The statements of `flakeforge schema`: those that the stores run themselves, or a function that makes IDs. It connects to
// nothing.

import * as mysqlFunction from '../../lib/stores/mysql/function.ts'
import { SCHEMA } from '../../lib/stores/mysql/schema.ts'
import { readAddress } from '../../lib/stores/postgres/address.ts'
import * as postgresFunction from '../../lib/stores/postgres/function.ts'
import { DEFAULT_SCHEMA, rightsOn, schemaFor } from '../../lib/stores/postgres/schema.ts'
import type { Sql } from '../../lib/stores/postgres/statement.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { print } from '../parts/output.ts'
import { readFunction, type WantedFunction } from './function.ts'

const { version } = manifest

/** `grants` are the rights that members or callers need. `script` is for a command-line client, if `sql` is not. */
type Printed = { sql: string; grants: string[]; script?: string }

interface Database {
  /** The statements that the store itself runs if it has the rights. */
  tables: () => Printed
  /** The statements of a function that makes IDs. */
  function: (wanted: WantedFunction) => Printed
}

/** By the database. The argument may be an address, whose schema is then the table's. */
const DATABASES: Record<string, (named: string, roles: string[]) => Database> = {
  postgres: (named, roles) => {
    const { schema, owner } = named.includes(':') ? readAddress(named) : { schema: DEFAULT_SCHEMA }
    const how = { owner, roles, withSchema: schema !== DEFAULT_SCHEMA }
    const grants = (rights: Sql[]) => rights.map((right) => `GRANT ${right} TO your_role;`)
    return {
      tables: () => ({ sql: schemaFor(schema, how).text, grants: grants(rightsOn(schema)) }),
      function: ({ name, plan }) => ({
        sql: postgresFunction.functionFor(schema, name, plan, how).text,
        grants: grants(postgresFunction.rightsOn(schema, name)),
      }),
    }
  },
  mysql: () => ({
    tables: () => ({
      sql: SCHEMA,
      grants: [
        'GRANT SELECT, INSERT, UPDATE ON flakeforge_record TO your_user;',
        'GRANT SELECT, INSERT ON flakeforge_process TO your_user;',
      ],
    }),
    function: ({ name, plan }) => {
      const statements = mysqlFunction.functionFor(name, plan)
      return {
        sql: statements.map((text) => `${text};\n`).join(''),
        script: `DELIMITER //\n${statements.map((text) => `${text}//\n`).join('')}\nDELIMITER ;`,
        grants: [`GRANT EXECUTE ON FUNCTION ${name} TO your_user;`],
      }
    },
  }),
}

/** Other names of them, such as the beginnings of their addresses. */
const ALIASES: Record<string, string> = { postgresql: 'postgres', mariadb: 'mysql' }

/** The given database, perhaps by the address of a server. */
function databaseOf(named: string, roles: string[]) {
  const [scheme] = named.toLowerCase().split(':')
  const name = ALIASES[scheme] ?? scheme
  const database = DATABASES[name]
  if (database === undefined) throw usageError(`There are tables for postgres and mysql, but not for '${scheme}'.`)
  if (name !== 'postgres' && roles.length > 0) {
    throw usageError('--grant is only for postgres. On MySQL and MariaDB, run the GRANT that is printed.')
  }
  return database(named, roles)
}

/** The names of --grant. */
function readRoles(given: string | undefined) {
  const roles = given === undefined ? [] : given.split(',')
  if (roles.every((role) => /^\P{C}+$/u.test(role))) return roles
  throw usageError(`--grant must be names of roles with commas between them, not '${given}'.`)
}

const asComment = (lines: string[]) => lines.map((line) => `--   ${line}\n`).join('')

const headerOfTables = ({ grants }: Printed) => `-- The tables of flakeforge ${version}, printed by: flakeforge schema
-- Applying it again changes nothing. Members need only these rights:
${asComment(grants)}`

const headerOfFunction = ({ grants }: Printed, { name, plan: { node } }: WantedFunction) =>
  `-- A function that makes IDs of node ${node}, printed by flakeforge ${version}: flakeforge schema --function ${name}
-- No process may use node ${node}, nor a function in another database. Callers need only these rights:
${asComment(grants)}`

export async function run({ values, operands }: Given) {
  const [named = 'postgres', ...more] = operands
  if (more.length > 0) throw usageError(`schema takes one database, so leave out '${more[0]}'.`)
  const database = databaseOf(named, readRoles(values.grant))
  const wanted = readFunction(values)
  const printed = wanted === undefined ? database.tables() : database.function(wanted)
  const header = wanted === undefined ? headerOfTables(printed) : headerOfFunction(printed, wanted)
  const textOf = (sql: string) => `${header}\n${sql.trim()}\n`
  const { sql, script = sql } = printed
  await print(values.json ? `${JSON.stringify({ sql: textOf(sql) })}\n` : textOf(script))
}
