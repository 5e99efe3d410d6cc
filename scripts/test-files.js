'use strict'

// Which of our AVA files need a server, determined from their imports, so that a new file is in the right group without
// a list: a file needs one if it reaches a file of `__test__/servers/` that starts one. `npm test -- --quick`,
// `npm run memcheck` and `npm run platforms` run the others. Only the rules written here exclude a file.

const fs = require('node:fs')
const path = require('node:path')
const { partOf } = require('./ava-output.js')

const checkout = path.join(__dirname, '..')
const TESTS = '__test__'
const SERVERS = `${TESTS}/servers/`
const HELPERS = `${SERVERS}server.mjs` // ports, folders and waits, which tests without a server use as well

/** The rooms of lib/ are what users run. Other tests are about the repository, its tools and documents. */
const ROOMS = ['base', 'layout', 'generator', 'files', 'stores', 'lease']

/** What `npm test -- --quick` runs: the rooms, including those that do not use the addon, and the command. */
const QUICK = [...ROOMS, 'calls', 'codec', 'remote', 'metrics', 'command']

/** The tests of the core in its folders. Those of `model` try every order of what can happen, and take minutes. */
const CORE = 'core/tests'
const MODELS = ['model']

/** `from 'x'`, `import 'x'`, `import('x')` and `require('x')`. */
const IMPORT = /\b(?:from|import|require)\b[\s(]*'([^'\n]+)'/g

/** The imports in a file's text. */
const importsIn = (text) => Array.from(text.matchAll(IMPORT), ([, name]) => name)

/** The file that a relative import means; undefined if there is none, as in a text that is only an example. */
function fileOf(from, name) {
  const file = path.join(path.dirname(from), name)
  return [file, `${file}.js`, path.join(file, 'index.js')].find((each) =>
    fs.statSync(each, { throwIfNoEntry: false })?.isFile(),
  )
}

/**
 * Everything that a file reaches: our files as paths from the checkout, with slashes, and the names of packages.
 * @param {string} file a full path
 * @param {Set<string>} [seen]
 */
function reached(file, seen = new Set()) {
  const name = path.relative(checkout, file).split(path.sep).join('/')
  if (seen.has(name)) return seen
  seen.add(name)
  if (!/\.[cm]?js$/.test(file)) return seen
  for (const each of importsIn(fs.readFileSync(file, 'utf8'))) {
    const other = each.startsWith('.') ? fileOf(file, each) : undefined
    if (other) reached(other, seen)
    else seen.add(each)
  }
  return seen
}

const needsServer = (names) => [...names].some((name) => name.startsWith(SERVERS) && name !== HELPERS)

/** All AVA files. */
function allFiles() {
  const names = fs.readdirSync(path.join(checkout, TESTS), { recursive: true })
  return names
    .map((name) => `${TESTS}/${name.split(path.sep).join('/')}`)
    .filter((name) => name.endsWith('.test.mjs'))
    .sort()
}

const everythingFrom = (file) => reached(path.join(checkout, file))

/** The AVA files in these folders of `__test__` that need no server. */
function withoutServers(folders = ROOMS) {
  const files = allFiles().filter((file) => folders.includes(file.split('/')[1]))
  return files.filter((file) => !needsServer(everythingFrom(file)))
}

const isUnder = (name, part) => name === part || name.startsWith(`${part}/`)

/**
 * The tests that `npm test` runs: the AVA files, and the folders of `core/tests/`. No parts mean all tests. A part is a
 * folder of tests or a file of `__test__`, such as `generator` or `lease/faults`.
 * @param {string[]} words
 * @param {boolean} isQuick only those that need no server and are no models
 */
function choose(words, isQuick) {
  const parts = words.map((word) =>
    word.replace(/^(?:\.\/)?(?:__test__|core\/tests)\//, '').replace(/\/$|\.test\.mjs$/, ''),
  )
  const isMeant = (name) => parts.length === 0 || parts.some((part) => isUnder(name, part))
  const inCore = coreTests()
  const known = [...allFiles().map(partOf), ...inCore]
  const unknown = parts.find((part) => !known.some((name) => isUnder(name, part)))
  if (unknown !== undefined) {
    const folders = new Set(known.map((name) => name.split('/')[0]))
    throw new Error(
      `There are no tests '${unknown}'. Parts are ${[...folders].sort().join(', ')}, and files such as lease/faults.`,
    )
  }
  const files = (isQuick ? withoutServers(QUICK) : allFiles()).filter((file) => isMeant(partOf(file)))
  const ofCore = inCore.filter((name) => isMeant(name) && !(isQuick && MODELS.includes(name)))
  if (files.length + ofCore.length === 0)
    throw new Error(`Each test of ${parts.join(', ')} needs a server or is a model, so --quick runs none.`)
  return { files, ofCore, isAll: parts.length === 0 && !isQuick, isQuick: parts.length === 0 && isQuick }
}

/** The folders of `core/tests/` that are tests, each a program of cargo. */
function coreTests() {
  const folder = path.join(checkout, CORE)
  return fs.readdirSync(folder).filter((name) => fs.existsSync(path.join(folder, name, 'main.rs')))
}

module.exports = { QUICK, ROOMS, choose, reached, withoutServers }
