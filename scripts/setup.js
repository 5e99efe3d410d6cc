'use strict'

// The preparations for `npm start`, `npm test` and `npm run bench`, in a fresh clone as well: the locked development
// packages, the files for browsers, and the addon built from the present source. It does nothing twice. Old versions of
// Node.js must be able to read this file, like requirements.js.

const { spawnSync } = require('child_process')
const fs = require('fs')
const path = require('path')
const { MissingRequirement, checkNode, checkRust } = require('./requirements.js')

const root = path.join(__dirname, '..')

/** npm writes its own lock file into node_modules. If that is missing, or older than ours, install. */
function isInstalled() {
  const installed = path.join(root, 'node_modules', '.package-lock.json')
  if (!fs.existsSync(installed)) return false
  return fs.statSync(installed).mtimeMs >= fs.statSync(path.join(root, 'package-lock.json')).mtimeMs
}

/** Shows the command's output on stderr: stdout belongs to the command that follows. False if it fails. */
function run(command) {
  const { status } = spawnSync(command, { cwd: root, shell: true, stdio: ['ignore', 2, 2] })
  if (status !== 0) console.error(`'${command}' failed: its output is above.`)
  return status === 0
}

function setUp() {
  checkNode()
  const { isBuilt } = require('./built.js') // not earlier, because it needs a new enough Node.js
  const mustBuild = !isBuilt()
  if (mustBuild) checkRust() // before npm, so that a missing Rust is reported at once
  const installed = isInstalled() || run('npm ci --no-audit --no-fund --loglevel=error')
  return installed && (!mustBuild || run('npm run --silent build')) && run('npm run --silent dist')
}

try {
  if (!setUp()) process.exitCode = 1
} catch (error) {
  if (!(error instanceof MissingRequirement)) throw error
  console.error(error.message)
  process.exitCode = 1
}
