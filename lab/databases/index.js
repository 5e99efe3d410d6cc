// `npm run databases`: each library on each database that it supports, with its default settings, with the one setting that
// makes it exact, and with `flake_id()` of the database as the default of its IDs. It fails where the outcome differs from
// results.json, or a setting does not do what it promises. `npm run databases -- pg knex` runs some, `-- --write` writes
// results.json and the tables of the documents.

import { install } from './install.js'
import { allLibraries, WAYS } from './libraries.js'
import { byOutcome, changes, recordOf } from './outcomes.js'
import { nodeProgram, prepare, runFunction, runWay } from './run.js'
import { Servers } from './servers.js'
import { writeTables } from './table.js'

/** One line for one way: which operations went wrong, and how. */
function report(library, database, way, record) {
  const { exact, inexact, error } = byOutcome(record)
  const wrong = [...inexact.map((each) => `${each} inexact`), ...error.map((each) => `${each} error`)]
  const name = [library.title.padEnd(15), database.padEnd(9), way.padEnd(8)].join(' ')
  console.log(`${name} ${String(exact.length).padStart(2)} exact${wrong.length > 0 ? `, ${wrong.join(', ')}` : ''}`)
}

/** The operations that the setting does not make exact, and that are not declared. */
function brokenWords(library, database, record) {
  const { inexact, error } = byOutcome(record)
  return [...inexact, ...error]
    .filter((operation) => library.knownFault(database, operation) === undefined)
    .map(
      (operation) =>
        `${library.title}, ${database}: with its setting, ${operation} is wrong: ${record.details[operation]}`,
    )
}

/** Declared faults that are gone. */
function goneFaults(library, database, record) {
  const { exact } = byOutcome(record)
  return exact
    .filter((operation) => library.knownFault(database, operation) !== undefined)
    .map((operation) => `${library.title}, ${database}: ${operation} is exact: remove it from 'known' in about.json`)
}

function changed(library, database, way, record) {
  const before = library.results?.databases[database]?.[way]
  return changes(before, record).map((operation) => {
    const [was, is] = [before?.operations[operation], record.operations[operation]].map((each) => JSON.stringify(each))
    return `${library.title}, ${database}, ${way}: ${operation} was ${was}, is ${is}: ${record.details[operation] ?? 'no fault'}`
  })
}

class Run {
  problems = []
  skipped = false

  constructor(servers, mustCompare) {
    Object.assign(this, { servers, mustCompare })
  }

  async way(library, database, way, server) {
    const record = recordOf(await runWay(library, database, way, server))
    report(library, database, way, record)
    if (way === 'exact') {
      this.problems.push(...brokenWords(library, database, record), ...goneFaults(library, database, record))
    }
    if (this.mustCompare) this.problems.push(...changed(library, database, way, record))
    return record
  }

  /** The default in the database, where the library has one. */
  async function(library, database, server) {
    const results = await runFunction(library, database, server)
    const name = [library.title.padEnd(15), database.padEnd(9), 'function'].join(' ')
    console.log(`${name} ${JSON.stringify(results)}`)
    const before = JSON.stringify(library.results?.databases[database]?.function)
    if (this.mustCompare && before !== JSON.stringify(results))
      this.problems.push(`${library.title}, ${database}, flake_id(): was ${before}, is ${JSON.stringify(results)}`)
    return results
  }

  async database(library, database) {
    const server = await this.servers.get(database)
    if (server === undefined) {
      this.skipped = true
      return
    }
    const found = { server: server.version ?? '' }
    for (const way of WAYS) {
      try {
        found[way] = await this.way(library, database, way, server)
      } catch (error) {
        this.problems.push(`${library.title}, ${database}, ${way}: ${error.message}`)
      }
    }
    if (library.hasFunction(database)) {
      try {
        found.function = await this.function(library, database, server)
      } catch (error) {
        this.problems.push(`${library.title}, ${database}, flake_id(): ${error.message}`)
      }
    }
    return found
  }

  async library(library) {
    await prepare(library)
    const results = { version: library.version, databases: {} }
    for (const database of library.databaseNames) {
      const found = await this.database(library, database)
      if (found !== undefined) results.databases[database] = found
    }
    return results
  }
}

const isComplete = (library, results) =>
  library.databaseNames.every((database) => WAYS.every((way) => results.databases[database]?.[way] !== undefined))

/** A library on all its databases; with `mustWrite`, also saves the results, if everything ran. */
async function runLibrary(run, library, mustWrite) {
  try {
    const results = await run.library(library)
    if (!mustWrite) return
    if (isComplete(library, results)) library.write(results)
    else run.problems.push(`${library.title}: nothing was written, because not everything ran`)
  } catch (error) {
    run.problems.push(`${library.title}: ${error.message}`)
  }
}

async function runAll(libraries, mustWrite) {
  const servers = new Servers()
  const run = new Run(servers, !mustWrite)
  try {
    for (const library of libraries) await runLibrary(run, library, mustWrite)
  } finally {
    await servers.stop()
  }
  return run
}

async function main(args) {
  const names = args.filter((arg) => arg !== '--write')
  const all = allLibraries()
  const unknown = names.find((name) => !all.some((library) => library.name === name))
  if (unknown !== undefined) {
    console.error(
      `'${unknown}' is no library here. usage: npm run databases [-- [--write] [${all.map(({ name }) => name).join(' | ')}]…]`,
    )
    return 2
  }
  const libraries = names.length > 0 ? all.filter(({ name }) => names.includes(name)) : all
  install(libraries)
  nodeProgram()
  const mustWrite = args.includes('--write')
  const start = Date.now()
  const run = await runAll(libraries, mustWrite)
  if (mustWrite) writeTables()
  for (const problem of run.problems) console.error(`\n${problem}`)
  const seconds = Math.round((Date.now() - start) / 1000)
  console.log(
    `\ndatabases: ${run.problems.length} problems in ${seconds} s${run.skipped ? ', and some databases were SKIPPED' : ''}`,
  )
  return run.problems.length === 0 ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
