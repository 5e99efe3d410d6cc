// The statements of `flakeforge schema`: those that the stores run themselves, a function that generates IDs, or functions that read
// their times. It connects to nothing.

import { endingsOf } from '../../lib/stores/database-times.ts'
import * as mysqlFunction from '../../lib/stores/mysql/function.ts'
import { SCHEMA } from '../../lib/stores/mysql/schema.ts'
import * as mysqlTimes from '../../lib/stores/mysql/times.ts'
import { readAddress } from '../../lib/stores/postgres/address.ts'
import * as postgresFunction from '../../lib/stores/postgres/function.ts'
import { DEFAULT_SCHEMA, rightsOn, schemaFor } from '../../lib/stores/postgres/schema.ts'
import type { Sql } from '../../lib/stores/postgres/statement.ts'
import * as postgresTimes from '../../lib/stores/postgres/times.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Given, Values } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { print } from '../parts/output.ts'
import {
  checkFunctions,
  OF_FUNCTIONS,
  readFunction,
  readTimes,
  type WantedFunction,
  type WantedTimes,
} from './function.ts'

const { version } = manifest

/** `grants` are the rights that members or callers need. `script` is for a command-line client, if `sql` is not. */
type Printed = { sql: string; grants: string[]; script?: string }

interface Database {
  /** The statements that the store itself runs if it has the rights. */
  tables: () => Printed
  /** The statements of a function that generates IDs. */
  function: (wanted: WantedFunction) => Printed
  /** The statements of functions that read the time of an ID. */
  times: (wanted: WantedTimes) => Printed
}

/** Statements of MySQL with bodies that contain semicolons. */
const scriptOf = (statements: string[]) => ({
  sql: statements.map((text) => `${text};\n`).join(''),
  script: `DELIMITER //\n${statements.map((text) => `${text}//\n`).join('')}\nDELIMITER ;`,
})

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
      times: ({ name, plan, isUnsigned }) => {
        if (isUnsigned) throw usageError('--unsigned is only for mysql: PostgreSQL has no integers without a sign.')
        return {
          sql: postgresTimes.timesFor(schema, name, plan, how).text,
          grants: grants(postgresTimes.rightsOn(schema, name, plan)),
        }
      },
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
    function: ({ name, plan }) => ({
      ...scriptOf(mysqlFunction.functionFor(name, plan)),
      grants: [`GRANT EXECUTE ON FUNCTION ${name} TO your_user;`],
    }),
    times: ({ name, plan, isUnsigned }) => ({
      ...scriptOf(mysqlTimes.timesFor(name, plan, isUnsigned)),
      grants: endingsOf(plan).map((ending) => `GRANT EXECUTE ON FUNCTION ${name}_${ending} TO your_user;`),
    }),
  }),
}

/** Other names of them, such as the beginnings of their addresses. */
const ALIASES: Record<string, string> = { postgresql: 'postgres', mariadb: 'mysql' }

function nameOf(named: string) {
  const [scheme] = named.toLowerCase().split(':')
  return ALIASES[scheme] ?? scheme
}

/** The given database, perhaps by the address of a server. */
function databaseOf(named: string, roles: string[]) {
  const name = nameOf(named)
  const database = DATABASES[name]
  if (database === undefined) throw usageError(`There are tables for postgres and mysql, but not for '${name}'.`)
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

/** The command without the address, which may have a password, but with all that says which IDs a function is for: one line. */
function commandOf(named: string, values: Values) {
  const name = nameOf(named)
  const given = OF_FUNCTIONS.filter((name) => values[name] !== undefined)
  return [
    'flakeforge schema',
    ...(name === 'postgres' ? [] : [name]),
    ...given.map((name) => `--${name}${wordOf(values[name])}`),
  ].join(' ')
}

/** A value as a shell reads it. All were read before; JSON alone may have line ends, which would end the comment. */
function wordOf(given: string | true | undefined) {
  if (typeof given !== 'string') return ''
  if (/^[\w.:+-]+$/.test(given)) return ` ${given}`
  const text = given.trim().startsWith('{') ? JSON.stringify(JSON.parse(given)) : given
  return ` '${text.replaceAll("'", String.raw`'\''`)}'`
}

const asComment = (lines: string[]) => lines.map((line) => `--   ${line}\n`).join('')

const headerOfTables = ({ grants }: Printed) => `-- The tables of flakeforge ${version}, printed by: flakeforge schema
-- Applying it again changes nothing. Members need only these rights:
${asComment(grants)}`

const headerOfFunction = ({ grants }: Printed, { plan: { node } }: WantedFunction, command: string) =>
  `-- A function that generates IDs of node ${node}, printed by flakeforge ${version}: ${command}
-- No process may use node ${node}, nor a function in another database. Callers need only these rights:
${asComment(grants)}`

const headerOfTimes = ({ grants }: Printed, { plan: { order } }: WantedTimes, command: string) =>
  `-- Functions that read the time of an ID, printed by flakeforge ${version}: ${command}
-- Applying it again changes nothing. Callers need only these rights${grants.length > 0 ? ':' : '.'}
${asComment(grants)}${order === undefined ? '-- IDs of this layout are not ordered by time, so no range of IDs is a span of time.\n' : ''}`

/** What the options ask for, with the comment before it. */
function printedBy(named: string, values: Values) {
  const database = databaseOf(named, readRoles(values.grant))
  checkFunctions(values)
  const [wanted, times] = [readFunction(values), readTimes(values)]
  if (wanted !== undefined) {
    const printed = database.function(wanted)
    return { ...printed, header: headerOfFunction(printed, wanted, commandOf(named, values)) }
  }
  if (times !== undefined) {
    const printed = database.times(times)
    return { ...printed, header: headerOfTimes(printed, times, commandOf(named, values)) }
  }
  const printed = database.tables()
  return { ...printed, header: headerOfTables(printed) }
}

export async function run({ values, operands }: Given) {
  const [named = 'postgres', ...more] = operands
  if (more.length > 0) throw usageError(`schema takes one database, so leave out '${more[0]}'.`)
  const { header, sql, script = sql } = printedBy(named, values)
  const textOf = (text: string) => `${header}\n${text.trim()}\n`
  await print(values.json ? `${JSON.stringify({ sql: textOf(sql) })}\n` : textOf(script))
}
