'use strict'

// What the image of the server installs: its tarballs, and the packages that they need in the versions and with the
// hashes that this repository has locked. npm would otherwise take the newest versions on the day of the build.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { digestsOf } = require('./digests.js')

const root = path.join(__dirname, '..')
const WORKSPACE = 'packages/server'
/** What a lock file says about a package besides where it is from. */
const FACTS = ['version', 'license', 'bin', 'dependencies', 'optionalDependencies', 'engines', 'os', 'cpu', 'libc']

const NESTED = '/node_modules/'
const above = (place) => (place.includes(NESTED) ? place.slice(0, place.lastIndexOf(NESTED)) : '')

/** Where Node.js finds a package from a place in a lock file on. */
function find(packages, place, name) {
  const there = path.posix.join(place, 'node_modules', name)
  if (packages[there]) return there
  if (place === '') throw new Error(`package-lock.json has no ${name}: run \`node scripts/lock.js .\``)
  return find(packages, above(place), name)
}

/** The names that a package is installed with. */
function neededBy({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }) {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional)
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]
}

/** Adds the locked packages that a place needs, without those that are packed here. */
function collect(place, { packages, packed, found }) {
  for (const name of neededBy(packages[place]).filter((each) => !packed.has(each))) {
    const there = find(packages, place, name)
    if (found.has(there)) continue
    const { dev, devOptional, optional, peer, ...entry } = packages[there]
    found.set(there, entry)
    collect(there, { packages, packed, found })
  }
  return found
}

/**
 * The package.json and package-lock.json that install packed tarballs.
 * @param {{ manifest: object, file: string, integrity: string }[]} tarballs
 */
function lockFor(tarballs) {
  const { lockfileVersion, packages } = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  const packed = new Set(tarballs.map(({ manifest }) => manifest.name))
  const others = [...collect(WORKSPACE, { packages, packed, found: new Map() })].map(([place, entry]) => [
    place.replace(`${WORKSPACE}/`, 'node_modules/flakeforge-server/'),
    entry,
  ])
  // A release's flakeforge names the packages of all platforms, and the image has one of them.
  const packedOf = (names) => names && Object.fromEntries(Object.entries(names).filter(([name]) => packed.has(name)))
  const own = tarballs.map(({ manifest: whole, file, integrity }) => {
    const manifest = { ...whole, optionalDependencies: packedOf(whole.optionalDependencies) }
    const facts = FACTS.filter((name) => manifest[name]).map((name) => [name, manifest[name]])
    return [`node_modules/${manifest.name}`, { resolved: `file:${file}`, integrity, ...Object.fromEntries(facts) }]
  })
  const manifest = {
    name: 'flakeforge-server-image',
    version: '0.0.0',
    private: true,
    dependencies: Object.fromEntries(tarballs.map((each) => [each.manifest.name, `file:${each.file}`])),
  }
  const { private: _, ...rootEntry } = manifest
  const all = [['', rootEntry], ...[...own, ...others].sort(([a], [b]) => (a < b ? -1 : 1))]
  const { name, version } = manifest
  return { manifest, lock: { name, version, lockfileVersion, requires: true, packages: Object.fromEntries(all) } }
}

const manifestIn = (tarball) =>
  JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }))

/** Writes both files beside the tarballs. */
function writeLock(folder, files) {
  const digests = digestsOf(folder, files)
  const tarballs = files.map((file) => ({
    file,
    integrity: digests[file],
    manifest: manifestIn(path.join(folder, file)),
  }))
  const { manifest, lock } = lockFor(tarballs)
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  fs.writeFileSync(path.join(folder, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`)
}

module.exports = { writeLock }
