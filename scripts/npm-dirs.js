'use strict'

// Writes npm/: a package for each platform, with the version and the texts of package.json, and the licence.
// `node scripts/npm-dirs.js` after a change of package.json or LICENSE; a release does it too.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { platformPackages } = require('./pack.js')

const root = path.join(__dirname, '..')
const napi = path.join(root, 'node_modules', '@napi-rs', 'cli', 'cli.mjs')

function writeNpmDirs() {
  execFileSync(process.execPath, [napi, 'create-npm-dirs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  for (const { folder } of platformPackages()) fs.copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
}

module.exports = { writeNpmDirs }

if (require.main === module) writeNpmDirs()
