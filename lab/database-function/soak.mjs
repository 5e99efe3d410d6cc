// Rows that get their IDs from the function of `flakeforge schema --function`, by 8 sessions, while the server's clock steps to
// and fro, statements are cancelled, transactions are rolled back, and the server is killed and started again. A generator of
// another node runs beside them. At the end no two IDs may be equal.

import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { sqlOf } from './databases.mjs'

const require = createRequire(import.meta.url)
const { Clock, canSetClocks, offsetWithin } = require('../chaos/faults/clock.js')
const { FlakeId, layouts, toBigInt } = require('flakeforge')

const SESSIONS = 8
export const NODE = 1023
const FURTHEST_MS = 3_600_000
const STEP_PAUSE_MS = 20
const RETRY_MS = 50
/** what an ID may be ahead of the furthest clock: a tick for each session, and our own view of the time */
const AHEAD_MS = 1000

class Soak {
  made = 0
  equal = [] // IDs that a session got although another one had them
  crashes = 0
  cancelled = 0
  rolledBack = 0
  highestMs = 0
  #seen = new Set() // since the last crash: what was not committed by then may come again
  #isDown = false // sessions of a killed PostgreSQL may still answer
  #isOver = false

  constructor(database, { ids, crashes }) {
    this.database = database
    this.ids = ids
    this.wantedCrashes = crashes
    this.clock = new Clock()
  }

  async run() {
    this.server = await this.database.start(this.clock.environment)
    try {
      await this.#make()
      const others = this.#besides()
      const sessions = Array.from({ length: SESSIONS }, () => this.#session())
      await Promise.all([...sessions, this.#steps(), this.#cancels(), this.#crash()])
      return await this.#judge(await others)
    } finally {
      this.#isOver = true
      await this.server.stop()
    }
  }

  #connect() {
    return this.database.connect(this.database.urlOf(this.server))
  }

  async #make() {
    const sql = await sqlOf(this.database.name, '--function', 'flake_id', '--node', String(NODE))
    await this.database.apply(this.server, `${sql} ${this.database.table}`)
  }

  /** Does the work again and again on connections, of which the faults end some. */
  async #repeatedly(work) {
    let connection
    while (!this.#isOver) {
      try {
        connection ??= await this.#connect()
        await work(connection)
      } catch {
        await connection?.run('ROLLBACK').catch(() => {
          connection = undefined
        })
        await sleep(RETRY_MS)
      }
    }
    await connection?.end().catch(() => {})
  }

  #session() {
    return this.#repeatedly(async (connection) => {
      const isLong = Math.random() < 0.3
      if (isLong) await connection.run('BEGIN')
      const { crashes } = this
      const rows = await connection.run(this.database.insert)
      if (crashes === this.crashes && !this.#isDown) this.#saw(rows.map(({ id }) => String(id)))
      if (!isLong) return
      await sleep(Math.random() * 20)
      const isKept = Math.random() < 0.7
      await connection.run(isKept ? 'COMMIT' : 'ROLLBACK')
      if (!isKept) this.rolledBack++
    })
  }

  #saw(ids) {
    for (const id of ids) {
      if (this.#seen.has(id)) this.equal.push(id)
      this.#seen.add(id)
    }
    this.made += ids.length
    if (this.made >= this.ids) this.#isOver = true
  }

  async #steps() {
    while (!this.#isOver) {
      this.clock.set(canSetClocks ? offsetWithin(FURTHEST_MS) : 0)
      await sleep(STEP_PAUSE_MS)
    }
    this.highestMs = Date.now() + FURTHEST_MS + AHEAD_MS
  }

  #cancels() {
    const { cancel } = this.database
    return this.#repeatedly(async (connection) => {
      await (typeof cancel === 'string' ? connection.run(cancel) : cancel(connection))
      this.cancelled++
      await sleep(STEP_PAUSE_MS)
    })
  }

  async #crash() {
    for (let crash = 1; crash <= this.wantedCrashes; crash++) {
      while (this.made < (crash * this.ids) / (this.wantedCrashes + 1)) await sleep(STEP_PAUSE_MS)
      this.#isDown = true
      await this.server.kill('SIGKILL')
      await this.#startAgain()
      this.crashes++
      this.#seen.clear()
      this.#isDown = false
    }
  }

  /** Sessions of a PostgreSQL that was killed hold its memory until they notice. */
  async #startAgain() {
    for (let tries = 0; ; tries++) {
      try {
        return await this.server.start()
      } catch (error) {
        if (tries > 200) throw error
        await sleep(RETRY_MS)
      }
    }
  }

  /** IDs of another node, as an application makes them. */
  async #besides() {
    const flake = new FlakeId({ id: 5, maxWaitMs: 1000 })
    const ids = []
    while (!this.#isOver) {
      for (const id of flake.takeBigInts(100)) ids.push(String(id))
      await sleep(STEP_PAUSE_MS)
    }
    return ids
  }

  async #judge(others) {
    const connection = await this.#connect()
    const ids = (await connection.run('SELECT id FROM made')).map(({ id }) => String(id))
    await connection.end()
    const all = [...ids, ...others]
    const parts = ids.map((id) => layouts.flake.decode(toBigInt(id)))
    return {
      made: this.made,
      rows: ids.length,
      equal: all.length - new Set(all).size, // rows
      seen: this.equal.length, // by sessions, without a crash in between
      others: others.length,
      strangers: parts.filter(({ id }) => id !== NODE).length,
      late: parts.filter(({ timestamp }) => timestamp > this.highestMs).length,
      crashes: this.crashes,
      cancelled: this.cancelled,
      rolledBack: this.rolledBack,
    }
  }
}

/** @param name of databases.mjs */
export const soak = (name, database, limits) => new Soak({ ...database, name }, limits).run()
