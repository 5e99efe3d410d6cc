// The databases whose function is tried: how to start them with a clock, apply SQL, insert rows, cancel a statement, and crash them.

import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { startMysql, wantMysql } from '../../__test__/servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../../__test__/servers/postgres.mjs'
import { HERE } from '../../__test__/servers/server.mjs'

const require = createRequire(import.meta.url)
const COMMAND = require.resolve('../../dist/flakeforge.cjs')
const ROWS = 50 // of a statement

/** The statements that `flakeforge schema` prints, as one text. */
export async function sqlOf(database, ...options) {
  const args = [COMMAND, 'schema', database, '--json', ...options]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout).sql
}

/** A connection of pg: `run` returns the rows. */
async function connectToPostgres(url) {
  const { Client } = require('pg')
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // the next statement fails too
  await client.connect()
  return { run: async (sql) => (await client.query(sql)).rows, end: () => client.end() }
}

async function connectToMysql(url) {
  const options = { uri: url, supportBigNumbers: true, bigNumberStrings: true }
  const client = await require('mysql2/promise').createConnection(options)
  client.on('error', () => {})
  return { run: async (sql) => (await client.query(sql))[0], end: () => client.end() }
}

export const DATABASES = {
  postgres: {
    want: wantPostgres,
    start: (environment) => startPostgres({}, { ...HERE, environment }),
    urlOf: (server) => server.url,
    apply: (server, sql) => server.query(sql),
    connect: connectToPostgres,
    table: 'CREATE TABLE made (id bigint NOT NULL DEFAULT flake_id(), x integer)',
    insert: `INSERT INTO made (x) SELECT generate_series(1, ${ROWS}) RETURNING id`,
    cancel: `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE state = 'active' AND query LIKE 'INSERT%' ORDER BY random() LIMIT 1`,
  },
  mysql: {
    want: wantMysql,
    async start(environment) {
      const server = await startMysql({ 'log-bin': 'log', 'log-bin-trust-function-creators': 1 }, environment)
      await server.query('CREATE DATABASE made')
      return server
    },
    urlOf: (server) => server.urlOf('made'),
    apply: (server, sql) => server.query(`USE made; ${sql}`),
    connect: connectToMysql,
    table: `CREATE TABLE made (id BIGINT NOT NULL DEFAULT 0, x INTEGER);
      CREATE TRIGGER made_id BEFORE INSERT ON made FOR EACH ROW SET NEW.id = flake_id()`,
    insert: `INSERT INTO made (x) SELECT seq FROM seq_1_to_${ROWS} RETURNING id`,
    async cancel(connection) {
      const [found] = await connection.run(
        "SELECT id FROM information_schema.PROCESSLIST WHERE info LIKE 'INSERT%' ORDER BY RAND() LIMIT 1",
      )
      if (found !== undefined) await connection.run(`KILL QUERY ${found.id}`)
    },
  },
}
