// The real contents of the tables: read, and written, as text by each database's own command (psql, mariadb, sqlite3).
// Packages under test are not used.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'

/** Debian's psql is a Perl script that looks for the real one, and takes ten times as long as that. */
const VERSIONS = '/usr/lib/postgresql'
const [version] = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => b - a) : []
const realPsql = `${VERSIONS}/${version}/bin/psql`
const PSQL = existsSync(realPsql) ? realPsql : 'psql'

/** How to start each command, and the type that it casts an ID to. */
const COMMANDS = {
  postgres: { text: 'text', command: (url) => [PSQL, '-XqAt', '-v', 'ON_ERROR_STOP=1', '-F', '\t', url] },
  mariadb: { text: 'char', command: mariadb },
  sqlite: { text: 'text', command: (url) => ['sqlite3', '-batch', '-bail', '-separator', '\t', url] },
}

function mariadb(url) {
  const { hostname, port, username, pathname } = new URL(url)
  return [
    'mariadb',
    '--no-defaults',
    '-NB',
    `--host=${hostname}`,
    `--port=${port}`,
    `--user=${username}`,
    pathname.slice(1),
  ]
}

/** The database's own command, as a list of words. */
export const clientOf = (database, url) => COMMANDS[database].command(url)

const quote = (text) => `'${text.replaceAll("'", "''")}'`
/**
 * As text, which every column of integers or text accepts: SQLite reads a bare integer past 2^63 as a floating-point
 * number.
 */
const quoteId = (id) => quote(String(id))
const list = (texts) => texts.map(quote).join(', ')

export class Stored {
  #command
  #text

  constructor(database, url) {
    this.#command = clientOf(database, url)
    this.#text = COMMANDS[database].text
  }

  /** Runs statements; the rows of the last, as text. */
  #run(sql) {
    const [program, ...args] = this.#command
    const { status, error, stdout, stderr } = spawnSync(program, args, {
      input: `${sql};\n`,
      encoding: 'utf8',
      maxBuffer: 1e8,
      timeout: 60_000,
    })
    if (error) throw error
    if (status !== 0) throw new Error(`${program}: ${stderr}`)
    return stdout === ''
      ? []
      : stdout
          .trimEnd()
          .split('\n')
          .map((line) => line.split('\t'))
  }

  #id = (column) => `CAST(${column} AS ${this.#text})`

  /** The customers with one of these names: IDs as text. */
  async customers(names) {
    return this.#run(`SELECT ${this.#id('id')}, name FROM customers WHERE name IN (${list(names)})`).map(asCustomer)
  }

  /** The orders of these items. */
  async orders(items) {
    const columns = `${this.#id('id')}, ${this.#id('customer_id')}, item`
    const rows = this.#run(`SELECT ${columns} FROM orders WHERE item IN (${list(items)})`)
    return rows.map(([id, customerId, item]) => ({ id, customerId, item }))
  }

  /** The tags of the customer with this name. */
  async tagged(name) {
    const rows = this.#run(`SELECT ${this.#id('tags.id')}, label FROM customers
      JOIN customer_tags ON customer_tags.customer_id = customers.id JOIN tags ON tags.id = tag_id
      WHERE name = ${quote(name)}`)
    return rows.map(([id, label]) => ({ id, label }))
  }

  /** The customers of the bulk insert. */
  async bulk() {
    return this.#run(`SELECT ${this.#id('id')}, name FROM customers WHERE name LIKE 'bulk %'`).map(asCustomer)
  }

  /** Removes all rows, and inserts these. */
  async replaceAll({ customers, orders }) {
    const values = (rows) => rows.map((row) => `(${row.join(', ')})`).join(', ')
    this.#run(
      [
        'DELETE FROM orders',
        'DELETE FROM customers',
        `INSERT INTO customers (id, name) VALUES ${values(customers.map(({ id, name }) => [quoteId(id), quote(name)]))}`,
        `INSERT INTO orders (id, customer_id, item) VALUES ${values(orders.map((o) => [quoteId(o.id), quoteId(o.customerId), quote(o.item)]))}`,
      ].join(';\n'),
    )
  }
}

const asCustomer = ([id, name]) => ({ id, name })
