'use strict'

// `node scripts/lock.js FOLDER...` rewrites the lock file of each folder after a change of its package.json. It keeps
// what is needed to install the same packages again, and nothing else: no registry's address, no engines, licences and
// funding of packages that only run here, no optional peers that are not installed. The root's keeps the licences of
// published packages, for the SBOMs.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const NOT_NEEDED = ['engines', 'funding']
const WRITE = ['install', '--package-lock-only', '--omit-lockfile-registry-resolved', '--ignore-scripts', '--no-audit']

/** Drops the optional peers of an entry that have no folder. */
function dropAbsentPeers(entry, names) {
  const { peerDependencies = {}, peerDependenciesMeta = {} } = entry
  for (const name of Object.keys(peerDependenciesMeta)) {
    if (!peerDependenciesMeta[name].optional || names.has(name)) continue
    delete peerDependencies[name]
    delete peerDependenciesMeta[name]
  }
  for (const key of ['peerDependencies', 'peerDependenciesMeta']) {
    if (entry[key] && Object.keys(entry[key]).length === 0) delete entry[key]
  }
}

for (const each of process.argv.slice(2)) {
  const folder = path.resolve(each)
  execFileSync('npm', WRITE, { cwd: folder, stdio: 'inherit' })
  const file = path.join(folder, 'package-lock.json')
  const lock = JSON.parse(fs.readFileSync(file, 'utf8'))
  const names = new Set(Object.keys(lock.packages).map((place) => place.split('node_modules/').at(-1)))
  for (const entry of Object.values(lock.packages)) {
    for (const name of NOT_NEEDED) delete entry[name]
    if (folder !== root || entry.dev) delete entry.license
    dropAbsentPeers(entry, names)
  }
  fs.writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
}
