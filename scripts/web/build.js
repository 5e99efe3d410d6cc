'use strict'

// `npm run web:build` writes web/: what a browser may load of this package, as ES modules, so that a bundler leaves out what a
// page does not use, and a page without a bundler can load them as they are. The files are those of CommonJS, translated one
// by one. Errors have their short texts there.
// It must never be edited by hand: it is not in git, and the package has it.

const fs = require('node:fs')
const path = require('node:path')
const { asEs } = require('./as-es.js')

const ROOT = path.join(__dirname, '..', '..')
const WEB = path.join(ROOT, 'web')
const ENTRIES = ['codec.js', 'remote.js', 'browser.js']

/** No module of it does anything when it is loaded, so a bundler may leave out any. */
const PACKAGE = `${JSON.stringify({ type: 'module', sideEffects: false })}\n`

const LONG = 'lib/base/errors/values.js'
const SHORT = 'values-short.js'
const IMPORT = /(?<=^(?:import|export) .* from ')\.[^']+(?=')/gm

/** The path from the root that a file's import means. */
const target = (file, from) => path.posix.join(path.posix.dirname(file), from)

/** A file as an ES module, with the short texts of errors. */
function translated(file) {
  const text = asEs(fs.readFileSync(path.join(ROOT, file), 'utf8'), file)
  return text.replace(IMPORT, (from) => (target(file, from) === LONG ? from.replace(/[^/]*$/, SHORT) : from))
}

/** The text of every file of web/, by its path there. */
function webFiles() {
  const files = new Map([['package.json', PACKAGE]])
  const queue = [...ENTRIES]
  for (const file of queue) {
    if (files.has(file)) continue
    const text = translated(file)
    files.set(file, text)
    for (const [from] of text.matchAll(IMPORT)) queue.push(target(file, from))
  }
  const main = fs.readFileSync(path.join(ROOT, 'browser.mjs'), 'utf8')
  return files.set('index.js', main)
}

/** Writes a file unless it is there already: somebody may be reading it. */
function write(file, text) {
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) return
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const fresh = `${file}.${process.pid}`
  fs.writeFileSync(fresh, text)
  fs.renameSync(fresh, file)
}

/** Writes web/, without what is there of earlier versions. */
function buildWeb() {
  const files = webFiles()
  for (const [file, text] of files) write(path.join(WEB, file), text)
  const old = fs.readdirSync(WEB, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { name, parentPath, path: folder } of old) {
    const file = path.relative(WEB, path.join(parentPath ?? folder, name)).replaceAll('\\', '/')
    if (!files.has(file) && !/\.\d+$/.test(file)) fs.rmSync(path.join(WEB, file), { force: true })
  }
  return WEB
}

module.exports = { buildWeb }

if (require.main === module) buildWeb()
