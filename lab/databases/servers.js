// Real servers for the matrix, started when they are first needed and removed at the end; and a fresh database for each
// program. A server that was running before is never touched.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startMysql, wantMysql } from '../../__test__/servers/mysql.mjs'
import { startPostgres, wantPostgres } from '../../__test__/servers/postgres.mjs'
import { freshFolder, wantProgram } from '../../__test__/servers/server.mjs'

const majors = (version, parts) => version.split('.').slice(0, parts).join('.')

async function postgres() {
  if (!wantPostgres() || !wantProgram('psql')) return
  const server = await startPostgres()
  const [{ version }] = await server.query("SELECT current_setting('server_version') AS version")
  return {
    version: majors(version, 1),
    async fresh(name) {
      await server.query(`CREATE DATABASE ${name}`)
      return server.url.replace(/\/postgres$/, `/${name}`)
    },
    stop: () => server.stop(),
  }
}

async function mariadb() {
  if (!wantMysql() || !wantProgram('mariadb')) return
  const server = await startMysql()
  const [{ version }] = await server.query('SELECT version() AS version')
  return { version: majors(version, 2), fresh: (name) => server.freshUrl(name), stop: () => server.stop() }
}

/** Files in a separate folder. Each library has its own SQLite. */
async function sqlite() {
  if (!wantProgram('sqlite3')) return
  const folder = await freshFolder('databases')
  return {
    fresh: async (name) => join(folder, `${name}.db`),
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

/** No server of MongoDB is available here: check-bson.js works on bytes. */
const bson = async () => ({ fresh: async () => '', stop: async () => {} })

const START = { postgres, mariadb, sqlite, bson }

export class Servers {
  #started = new Map()

  /** The server of a kind: `{ version, fresh(name), stop() }`. Undefined: it is not installed, with a loud message. */
  get(database) {
    if (!this.#started.has(database)) this.#started.set(database, START[database]())
    return this.#started.get(database)
  }

  async stop() {
    for (const started of this.#started.values()) await started.then((server) => server?.stop()).catch(() => {})
  }
}
