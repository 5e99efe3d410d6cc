// One suite for all databases: a promise is written once, and runs for each row of databases/ that has what it needs.
// The four test files next to this one run all promises on one database each, so that a server is started once.
//
// A site is what a client connects to: a server, or several with something before them. Tests of one site share it,
// each with its own groups. A promise that breaks a server has its own site, and all rows at once: they connect, the
// site is broken once, and the errors of each row are checked.

import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { startProxy } from '../../servers/proxy.mjs'
import { stopAfter, until } from '../../servers/server.mjs'
import { stopProcess } from '../../support/stop-process.mjs'
import { testInTurn } from '../../support/turns.mjs'

const require = createRequire(import.meta.url)
const { DatabaseStore } = require('../../../target/rooms/lib/stores/database.js')

const run = promisify(execFile)

/** This many tests at once: each step must end within 10 s, also on a busy machine. */
const AT_ONCE = 6

/** Where a row connects to, unless it names another site. */
const SERVER = 'server'

/** The site of a row. */
export const siteNameOf = ({ site = SERVER }) => site

/** Whether a row connects to a single server, with nothing between. */
export const isDirect = (row) => siteNameOf(row) === SERVER

/** The same for a kind whose rows connect to several servers that are one store: its `plain` site. */
export const isPlain = ({ kind }) => {
  const { plain = SERVER } = kind
  return (row) => siteNameOf(row) === plain
}

let places = 0

/** The promises of one database. */
export class Suite {
  #shared = new Map()
  #test

  constructor(kind) {
    this.kind = kind
    this.#test = testInTurn(kind.isInstalled() ? anyTest : anyTest.skip, AT_ONCE)
    anyTest.after.always(() => Promise.all([...this.#shared.values()].map(async (site) => (await site).stop())))
  }

  /** The rows that have what a promise needs, each with its name. */
  rowsThat(needs = () => true) {
    return Object.entries(this.kind.rows)
      .map(([name, row]) => ({ name, ...row }))
      .filter(needs)
  }

  /** A test that needs a server of this database. */
  test(title, body) {
    this.#test(title, body)
  }

  /** A test that takes several processes, before all others. */
  alone(title, body) {
    const run = this.kind.isInstalled() ? anyTest.serial : anyTest.skip
    run(title, body)
  }

  /** A promise for each row, on a site that tests share; `body(t, { row, site, group, connect })`. */
  promise(title, needs, body) {
    for (const row of this.rowsThat(needs)) {
      this.#on(row)(`${row.name}: ${title}`, async (t) => {
        const site = await this.sharedSite(siteNameOf(row))
        const connect = (at = site, options = undefined) => this.connect(t, row, at, options)
        await body(t, { row, site, group: randomUUID(), connect })
      })
    }
  }

  /**
   * A promise about failures, for all rows of a site at once: `before` for each of them, `break(site, t)` of a damage
   * once, then `during`, `mend(site)`, `after`. Each gets the row and the result of the one before. One damage comes
   * after the other.
   */
  whileBroken(title, { needs, siteOf = siteNameOf, settings, damages }, { before, during, after }) {
    for (const name of new Set(this.rowsThat(needs).map(siteOf))) {
      const rows = this.rowsThat((row) => needs(row) && siteOf(row) === name)
      this.#onSite(name)(`${title} (${name})`, async (t) => {
        const site = await this.startSite(t, name, settings)
        const connect = (row) => (at, options) => this.connect(t, row, at ?? site, options)
        for (const damage of damages) {
          const members = rows.map((row) => ({ row, site, group: randomUUID(), connect: connect(row) }))
          await eachOf(t, members, before)
          await damage.break(site, t)
          await eachOf(t, members, during)
          await damage.mend(site)
          await eachOf(t, members, after)
        }
      })
    }
  }

  /** A row's client at a site, the store on it, and its records. All end with the test. */
  async connect(t, row, site, options) {
    const { client, end } = await row.connect(site, options)
    t.teardown(async () => {
      await Promise.resolve(end()).catch(() => {}) // it may have ended with its server
    })
    if (!row.isOurs) return this.#withRecords(client, this.kind.storeOf(client))
    return this.#withRecords(client, new DatabaseStore((row.recordsOf ?? this.kind.recordsOf)(client)))
  }

  #withRecords(client, store) {
    return { client, store, records: store.records }
  }

  /** A site for this test only. */
  async startSite(t, name = SERVER, settings = undefined) {
    return stopAfter(t, await this.#siteNamed(name).start(settings))
  }

  /** A new database of a site, where there are any. */
  freshPlace(site) {
    return this.kind.freshPlace(site, `place${places++}`)
  }

  #siteNamed(name) {
    const site = this.kind.sites[name]
    return typeof site === 'function' ? { start: site, isInstalled: () => true } : site
  }

  /** The site of this name that tests share. */
  sharedSite(name = SERVER) {
    if (!this.#shared.has(name)) this.#shared.set(name, this.#siteNamed(name).start())
    return this.#shared.get(name)
  }

  #onSite(name) {
    return this.#siteNamed(name).isInstalled() ? (...words) => this.test(...words) : anyTest.skip
  }

  #on(row) {
    return this.#onSite(siteNameOf(row))
  }
}

/** Does this for all members at once. The log has the name of a failing one. */
async function eachOf(t, members, step) {
  const done = await Promise.all(
    members.map((member) =>
      step(t, member).catch((error) => {
        t.log(member.row.name)
        throw error
      }),
    ),
  )
  for (const [i, result] of done.entries()) Object.assign(members[i], result)
}

/** A link to a site that can lose its connections, or lead elsewhere; and the site as seen through it. */
export async function throughProxy(t, site) {
  const proxy = stopAfter(t, await startProxy(Number(new URL(site.url).port)))
  const url = new URL(site.url)
  url.port = String(proxy.port)
  return { proxy, site: { ...site, url: url.href, endpoints: undefined } }
}

/**
 * Pauses a server with all its processes. Returns the function that resumes them, which also runs at the end of the
 * test.
 */
export async function freeze(t, { pid }) {
  const { stdout } = await run('pgrep', ['-P', String(pid)]).catch(() => ({ stdout: '' }))
  const pids = [pid, ...stdout.split('\n').filter(Boolean).map(Number)]
  const thaw = () => {
    for (const each of pids) goOn(each)
  }
  t.teardown(thaw)
  for (const each of pids) await stopProcess(each)
  return thaw
}

function goOn(pid) {
  try {
    process.kill(pid, 'SIGCONT')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error // it has ended
  }
}

/** The result of a call, once it succeeds: a dead connection may still be in a pool, once for each. */
export async function reached(call) {
  let answer
  await until(async () => {
    answer = await call().catch(() => undefined)
    return answer !== undefined
  })
  return answer
}
