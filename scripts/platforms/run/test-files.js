'use strict'

// Which of our AVA files can run on another platform, found from what they import, so that a new file is in the right
// group without a list:
// - A file needs a server if it reaches `__test__/servers/`.
// - The files of lib/'s rooms are about what users run. The others are about the repository, its tools and documents.
// - An emulator runs those of them that start no process, because it takes seconds to start each, and many at once end
//   in the tests' time limits. And none of lease/: its code is JavaScript, and its tests mostly wait for time to pass.
//   What this leaves out, `__test__/smoke.cjs` checks once, and x64-musl runs all of it.
// It must never leave out a file without a rule that is written here.

const fs = require('node:fs')
const path = require('node:path')

const checkout = path.join(__dirname, '..', '..', '..')
const TESTS = '__test__'
const SERVERS = `${TESTS}/servers/`

/** The rooms of lib/ by the names of their tests' folders. Other tests are about the repository, its tools and documents. */
const ROOMS = ['base', 'layout', 'generator', 'files', 'lease'].map((room) => `${TESTS}/${room}/`)

/** `from 'x'`, `import 'x'`, `import('x')` and `require('x')`. */
const IMPORT = /\b(?:from|import|require)\b[\s(]*'([^'\n]+)'/g

/** What a file's text imports. */
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

const isLease = (file) => file.startsWith(`${TESTS}/lease/`)

/** What a file that starts processes imports for that: the modules themselves, or our helpers. */
const STARTS = /\b(?:child_process|worker_threads|jsonOfChild|runChild|support\/(?:processes|command|disk)\.mjs)\b/
const startsProcesses = (text) => STARTS.test(text)

const everythingFrom = (file) => reached(path.join(checkout, file))

/** The AVA files of the rooms of lib/ that need no server. */
function withoutServers() {
  const files = allFiles().filter((file) => ROOMS.some((room) => file.startsWith(room)))
  return files.filter((file) => !needsServer(everythingFrom(file)))
}

const textOf = (file) => fs.readFileSync(path.join(checkout, file), 'utf8')

/** Those of them that an emulator runs in minutes. */
const forEmulators = () => withoutServers().filter((file) => !isLease(file) && !startsProcesses(textOf(file)))

module.exports = { allFiles, forEmulators, importsIn, needsServer, reached, startsProcesses, withoutServers }
