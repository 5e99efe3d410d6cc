'use strict'

// The cost of loading the package and generating the first ID, in time and in memory, compared with an empty script and
// flake-idgen; and the share of each part.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { ownPlatform } = require('../../scripts/pack.js')
const { median, printPromises, ROUNDS } = require('./report.js')

const root = path.join(__dirname, '..', '..')
const PROCESSES = ROUNDS * 5 // one takes 50 ms, and times of a few ms are noisy

/** The output of a process that loads this. `flags`: options for Node.js. */
function once(script, args, flags = []) {
  return JSON.parse(
    execFileSync(process.execPath, [...flags, path.join(__dirname, script), ...args], { encoding: 'utf8' }),
  )
}

/** As many empty files as these, in a folder with an equally long path. They show the cost of Node's loader alone. */
function emptyFiles(files) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'l-'))
  const length = files[0].length - folder.length
  return files.map((_, i) => {
    const file = path.join(folder, `${String(i).padStart(Math.max(length - 4, 2), '0')}.js`)
    fs.writeFileSync(file, '')
    return file
  })
}

function printTable(rows, of) {
  console.log(`\nLoading, medians of ${PROCESSES} processes each, above an empty script\n`)
  console.log(`${''.padEnd(50)}      ms      MiB`)
  for (const name of rows) {
    const { ms, mib } = of(name)
    console.log(`${name.padEnd(50)} ${ms.toFixed(2).padStart(7)}  ${mib.toFixed(2).padStart(7)}`)
  }
}

async function run() {
  const [ours, theirs] = [path.join(root, 'dist', 'index.cjs'), require.resolve('flake-idgen')]
  const { files } = once('load-once.js', ['first', ours])
  const addon = path.join(root, ownPlatform().manifest.main)
  const empties = emptyFiles(files)
  const import_ = pathToFileURL(path.join(root, 'dist', 'index.mjs')).href

  const NOTHING = 'empty script'
  const NOTHING_ES = 'empty ES module'
  const FLAKEFORGE = 'flakeforge: require and the first ID'
  const IMPORT = 'flakeforge: import and the first ID'
  const THEIRS = 'flake-idgen: require and the first ID'
  const THEIR_IMPORT = 'flake-idgen: import and the first ID'
  const UNOPTIMISED = '… with --no-opt'
  const ADDON = "of these: the addon's dlopen"
  const FILES = `of these: Node's loader, for ${files.length} empty files`
  const WAYS = {
    [NOTHING]: () => once('load-once.js', ['empty']),
    [NOTHING_ES]: () => once('load-once.mjs', ['empty']),
    [THEIRS]: () => once('load-once.js', ['first', theirs]),
    [THEIR_IMPORT]: () => once('load-once.mjs', ['first', pathToFileURL(theirs).href]),
    [FLAKEFORGE]: () => once('load-once.js', ['first', ours]),
    [UNOPTIMISED]: () => once('load-once.js', ['first', ours], ['--no-opt']),
    [ADDON]: () => once('load-once.js', ['addon', addon]),
    [FILES]: () => once('load-once.js', ['files', ...empties]),
    [IMPORT]: () => once('load-once.mjs', ['first', import_]),
  }
  const measured = Object.fromEntries(Object.keys(WAYS).map((name) => [name, []]))
  for (let i = 1; i <= PROCESSES; i++) {
    process.stderr.write(`load: ${i} of ${PROCESSES}\r`)
    for (const [name, measure] of Object.entries(WAYS)) measured[name].push(measure())
  }
  fs.rmSync(path.dirname(empties[0]), { recursive: true })

  const above = (name) => {
    const base = measured[name === IMPORT || name === THEIR_IMPORT ? NOTHING_ES : NOTHING]
    const of = (unit) => median(measured[name].map((one) => one[unit])) - median(base.map((one) => one[unit]))
    return { ms: of('ms'), mib: of('mib') }
  }
  printTable(
    Object.keys(WAYS).filter((name) => name !== NOTHING && name !== NOTHING_ES),
    above,
  )
  console.log(`
Apart from the addon and Node's loader, the rest is our own code: compiling it, the addon's classes, one layout and one
generator. V8 takes 3 to 4 MiB when it optimises a first function. Where many files are loaded from long paths, that is
Node's own path code, and it may come here already; the line with --no-opt is without it.`)
  printPromises([
    ["import and the first ID, times flake-idgen's", () => above(IMPORT).ms / above(THEIR_IMPORT).ms, 2.7],
    ["require and the first ID, times flake-idgen's", () => above(FLAKEFORGE).ms / above(THEIRS).ms, 9.8],
    ['import, MiB above an empty module', () => above(IMPORT).mib, 3.5],
    ['require, MiB above an empty script', () => above(FLAKEFORGE).mib, 3],
  ])
}

module.exports = { run }
