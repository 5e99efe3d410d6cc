'use strict'

// The locked development packages, for `npm run format`, `npm run dist` and setup.js, in a fresh clone as well. It does nothing
// twice. Old versions of Node.js must be able to read this file, like requirements.js.

const { spawnSync } = require('child_process')
const fs = require('fs')
const path = require('path')

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

const install = () => isInstalled() || run('npm ci --ignore-scripts --no-audit --no-fund --loglevel=error')

module.exports = { install, run }

if (require.main === module && !install()) process.exitCode = 1
