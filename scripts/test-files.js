'use strict'

// Which of our AVA files need a server, determined from their imports, so that a new file is in the right group without
// a list: a file needs one if it reaches `__test__/servers/`. `npm run memcheck` and `npm run platforms` run the
// others. Only the rules written here exclude a file.

const fs = require('node:fs')
const path = require('node:path')

const checkout = path.join(__dirname, '..')
const TESTS = '__test__'
const SERVERS = `${TESTS}/servers/`

/** The rooms of lib/ are what users run. Other tests are about the repository, its tools and documents. */
const ROOMS = ['base', 'layout', 'generator', 'files', 'stores', 'lease']

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

const needsServer = (names) => [...names].some((name) => name.startsWith(SERVERS))

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

module.exports = { ROOMS, reached, withoutServers }
