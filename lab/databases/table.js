// Writes the tables of docs/data/databases.md, of docs/data/database-defaults.md and of each library's page in
// docs/data/databases/ from results.json of each library, between two markers. The tables contain only results of runs.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allLibraries } from './libraries.js'
import { byOutcome, isExact, sizesOfFault } from './outcomes.js'

const root = join(import.meta.dirname, '..', '..')
const DATABASES = { postgres: 'PostgreSQL', mariadb: 'MariaDB', sqlite: 'SQLite', bson: 'BSON without a server' }

/** The table's names for the operations of a program. */
const LABELS = {
  databaseJson: 'JSON built by the database',
  json: 'JSON to a client',
  bulk: 'bulk insert',
  nested: 'nested create',
  manyToMany: 'many-to-many',
}
const labels = (operations) => operations.map((each) => LABELS[each] ?? each).join(', ')

const code = (text) => (text.includes('`') ? text : `\`${text.replaceAll('|', '\\|')}\``)

/** Where a library's default, or its type, may not apply: everything except one row and its columns. */
const ASIDE = ['json', 'databaseJson', 'max', 'nested', 'manyToMany', 'bulk']

/** 'exact by default?': yes, also with exceptions, where stored IDs are read and found exactly. */
function verdict(record) {
  const { inexact, error } = byOutcome(record)
  const isException = (operation) => ASIDE.includes(operation)
  if (!inexact.every(isException)) return '**no, and silently**'
  if (!error.every(isException)) return 'no, it throws'
  const exceptions = [...inexact.map((each) => `${labels([each])} (silently)`), ...error.map((each) => labels([each]))]
  return exceptions.length === 0 ? 'yes' : `yes, except ${exceptions.join(', ')}`
}

/** Operations with the same result, with the example of the first: 'read, filter (`…`)'. */
function faults(what, operations, { operations: outcomes, details }) {
  if (operations.length === 0) return []
  const [size, detail] = details[operations[0]].split(/: (.*)/s)
  const sizes = sizesOfFault(outcomes[operations[0]])
  const where = sizes.length === 0 ? '' : `, only ${sizes.join(' and ')}`
  return [`${what}: ${labels(operations)}${where} (${size === 'today' || where ? '' : `${size}: `}${code(detail)})`]
}

function wrongByDefault(record) {
  const { inexact, error } = byOutcome(record)
  return [...faults('wrong', inexact, record), ...faults('throws', error, record)].join('; ') || '–'
}

/** 'exact with it?' */
function verdictOfSetting(record) {
  const { inexact, error } = byOutcome(record)
  return isExact(record) ? 'yes' : `all but ${labels([...inexact, ...error])}`
}

const asTable = (rows) => rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
const rule = (cells) => cells.map(() => '---')

function columns(library, database) {
  const [before, after] = ['default', 'exact'].map((way) => `\`${library.column(database, way)}\``)
  return before === after ? before : `${before}, then ${after}`
}

function rowsOf(library) {
  return Object.entries(library.results.databases).map(([database, found]) => [
    `${DATABASES[database]}: ${columns(library, database)}`,
    verdict(found.default),
    wrongByDefault(found.default),
    library.settingFor(database),
    verdictOfSetting(found.exact),
  ])
}

/** 'PostgreSQL 15, MariaDB 10.11, SQLite' */
const servers = ({ databases }) =>
  Object.entries(databases)
    .map(([name, { server }]) => `${DATABASES[name]} ${server}`.trim())
    .join(', ')

/** The table of a library's page. */
export function tableOf(library) {
  const head = [
    'database and column',
    'exact by default?',
    'what goes wrong by default',
    'the setting',
    'exact with it?',
  ]
  const { version } = library.results
  const caption = version ? `Run with version ${version}` : 'Run'
  return `${asTable([head, rule(head), ...rowsOf(library)])}\n\n${caption} on ${servers(library.results)}.`
}

/** One text where all databases have the same, or one for each. */
function together(library, textOf) {
  const texts = Object.entries(library.results.databases).map(([database, found]) => [
    DATABASES[database],
    textOf(found),
  ])
  const different = [...new Set(texts.map(([, text]) => text))]
  if (different.length === 1) return different[0]
  return different
    .map(
      (text) =>
        `${texts
          .filter((each) => each[1] === text)
          .map(([name]) => name)
          .join(', ')}: ${text}`,
    )
    .join('; ')
}

export function shortTable(libraries = allLibraries()) {
  const head = ['library', 'exact by default?', 'with one setting?']
  const rows = libraries
    .filter(({ results }) => results !== undefined)
    .map((library) => [
      `[${library.title}](databases/${library.name}.md)`,
      together(library, (found) => verdict(found.default)),
      together(library, (found) => verdictOfSetting(found.exact)),
    ])
  return asTable([head, rule(head), ...rows])
}

/** What an insert by a library does when the database makes the ID. */
const INSERTS = { insert: 'one row', nested: 'nested rows', bulk: 'many rows' }

function insertsWith(results) {
  const [one, ...others] = Object.entries(results).map(([name, outcome]) => {
    if (outcome === 'yes') return INSERTS[name]
    if (outcome === 'stored') return `${INSERTS[name]}, **whose ID is not returned**`
    return `not ${INSERTS[name]} (${code(outcome.replace(/^error: /, '').replace(/ \(.*/s, ''))})`
  })
  return [one, ...others].join('; ')
}

const ofMariadb = (library, found) =>
  found === undefined ? '–' : `${library.function.mariadb}: ${insertsWith(found.function)}`

/** IDs from `flake_id()`: the default of each library, and what was inserted with it. */
export function functionTable(libraries = allLibraries()) {
  const head = ['library', 'the default, in PostgreSQL', 'works in PostgreSQL', 'works in MariaDB, with the trigger']
  const rows = libraries
    .filter((library) => library.function !== undefined && library.results !== undefined)
    .map((library) => {
      const { postgres, mariadb } = library.results.databases
      const title = `[${library.title}](databases/${library.name}.md)`
      return [title, library.function.postgres, insertsWith(postgres.function), ofMariadb(library, mariadb)]
    })
  return asTable([head, rule(head), ...rows])
}

const PAGES = join(root, 'docs', 'data', 'databases')

export const pageOf = ({ name }) => join(PAGES, `${name}.md`)

/** The location of each table: its document and its markers. */
export function places() {
  const found = allLibraries().filter(({ results }) => results !== undefined)
  return [
    { file: `${PAGES}.md`, name: 'databases-short', table: shortTable },
    { file: join(root, 'docs', 'data', 'database-defaults.md'), name: 'libraries', table: functionTable },
    ...found.map((library) => ({ file: pageOf(library), name: library.name, table: () => tableOf(library) })),
  ]
}

/** The text before, between and after the markers. */
function partsOf(text, name) {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [start, end] = [text.indexOf(open) + open.length, text.indexOf(close)]
  if (start < open.length || end < start) throw new Error(`there is no ${open} and ${close} for the table`)
  return [text.slice(0, start), text.slice(start, end), text.slice(end)]
}

export const tableIn = ({ file, name }) => partsOf(readFileSync(file, 'utf8').replaceAll('\r\n', '\n'), name)[1].trim()

export function writeTables() {
  for (const { file, name, table } of places()) {
    const [before, , after] = partsOf(readFileSync(file, 'utf8'), name)
    writeFileSync(file, `${before}\n${table()}\n${after}`)
  }
}
