'use strict'

// What `npm start`, `npm test` and `npm run bench` need first, in a fresh clone as well: the locked development
// packages, and the addon built from the present source. Does nothing twice.

const { execSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const run = (command) => execSync(command, { cwd: root, stdio: ['ignore', 2, 2] }) // stdout belongs to what comes after

/** npm writes a lock file of its own when it has installed: older than ours, or missing, means install. */
function isInstalled() {
  const installed = path.join(root, 'node_modules', '.package-lock.json')
  if (!fs.existsSync(installed)) return false
  return fs.statSync(installed).mtimeMs >= fs.statSync(path.join(root, 'package-lock.json')).mtimeMs
}

if (!isInstalled()) run('npm ci --no-audit --no-fund --loglevel=error')
run('npm run --silent build')
