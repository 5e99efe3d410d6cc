// The known facts of each library, without loading it: libraries/NAME/about.json, and its results: results.json next to
// it.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inRows } from '../in-rows.js'

const FOLDER = join(import.meta.dirname, 'libraries')
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

export const WAYS = ['default', 'exact']

/** A text for all databases and both ways, or one for each. */
const valueFor = (value, ...keys) => keys.reduce((found, key) => found?.[key] ?? found, value)

export class Library {
  constructor(name) {
    this.name = name
    this.folder = join(FOLDER, name)
    Object.assign(this, readJson(join(this.folder, 'about.json')))
  }

  get databaseNames() {
    return Object.keys(this.databases)
  }

  /** The type of the IDs' columns. */
  column = (database, way) => valueFor(this.databases, database, way)

  /** An ID past 2^63 is negative in it. */
  isSigned = (database, way) => /^(?:(?:big)?int(?:eger|8)?|long)$/i.test(this.column(database, way))

  settingFor = (database) => valueFor(this.setting, database)

  /** Why an operation is not exact despite the setting; undefined: it must be. */
  knownFault = (database, operation) => this.known?.[database]?.[operation]

  /** Whether IDs may come from the database's own function: `function` in about.json has the code of the default. */
  hasFunction = (database) => this.function?.[database] !== undefined

  /** The version in the lock file. */
  get version() {
    const lock = readJson(join(import.meta.dirname, 'package-lock.json'))
    return this.package.startsWith('node:') ? '' : lock.packages[`node_modules/${this.package}`].version
  }

  /** The results of the last `--write`; undefined: none yet. */
  get results() {
    const path = join(this.folder, 'results.json')
    return existsSync(path) ? readJson(path) : undefined
  }

  write(results) {
    writeFileSync(join(this.folder, 'results.json'), inRows(results))
  }
}

/** All of them, in the order of their titles. */
export const allLibraries = () =>
  readdirSync(FOLDER)
    .map((name) => new Library(name))
    .sort((a, b) => (a.title.toLowerCase() < b.title.toLowerCase() ? -1 : 1))
