'use strict'

// Knows whether the addon in the root was built from the present source, so that `npm start` and others build only when
// they have to. After each build, a file in target/ records the source and the addon. `node scripts/built.js` ends with
// status 1 if there is something to build. It compares contents, not times, so a changed file, another branch, other
// compiler flags and a deleted or replaced addon are all noticed.

const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..')
const stamp = path.join(root, 'target', 'built.json')

/** The inputs of the compiler: files and whole folders. Not all of them have to exist. */
const SOURCES = [
  'src',
  'core/src',
  'build.rs',
  'Cargo.toml',
  'core/Cargo.toml',
  'Cargo.lock',
  'rust-toolchain.toml',
  '.cargo',
]

/** The types of the addon, which a build writes beside its sources. */
const TYPES = 'src/native.d.ts'

/** Settings that make Cargo build another binary from the same source. */
const isBuildSetting = (name) =>
  /^(?:RUSTFLAGS|CARGO_ENCODED_RUSTFLAGS|CARGO_BUILD_|CARGO_PROFILE_|RUSTUP_TOOLCHAIN)/.test(name)

const fullPath = (name) => path.join(root, name)

/** All files in a folder of the root, or the file itself; nothing if it is missing. */
function filesOf(name) {
  const stats = fs.statSync(fullPath(name), { throwIfNoEntry: false })
  if (stats === undefined) return []
  if (!stats.isDirectory()) return [name]
  return fs.readdirSync(fullPath(name)).flatMap((entry) => filesOf(`${name}/${entry}`))
}

/** One hash of the names and contents of files, and of everything else that matters. */
function hash(files, more) {
  const sum = createHash('sha256').update(JSON.stringify(more))
  for (const file of files.toSorted()) {
    const content = fs.readFileSync(fullPath(file))
    sum.update(JSON.stringify([file, content.length])).update(content)
  }
  return sum.digest('hex')
}

/** One hash of all inputs of a build. */
function hashOfSource() {
  const { version, napi, scripts, devDependencies } = JSON.parse(fs.readFileSync(fullPath('package.json'), 'utf8'))
  const settings = Object.entries(process.env).filter(([name]) => isBuildSetting(name))
  const builder = [version, napi, scripts.build, devDependencies['@napi-rs/cli'], process.platform, process.arch]
  const files = SOURCES.flatMap(filesOf).filter((file) => file !== TYPES)
  return hash(files, [builder, settings.sort()])
}

/** One hash of a build's outputs. Undefined when there is no addon. */
function hashOfAddon() {
  const start = `flakeforge.${process.platform}-${process.arch}`
  const addons = fs.readdirSync(root).filter((name) => name.startsWith(start) && name.endsWith('.node'))
  return addons.length > 0 ? hash(addons, []) : undefined
}

/** The record of the last build. An unreadable file counts as missing: build. */
function lastBuild() {
  try {
    return JSON.parse(fs.readFileSync(stamp, 'utf8'))
  } catch {
    return {}
  }
}

function isBuilt() {
  const { source, addon } = lastBuild()
  return addon !== undefined && addon === hashOfAddon() && source === hashOfSource()
}

/** Records a build. `source` is the hash from before it, since files can change while the compiler runs. */
function recordBuild(source) {
  fs.mkdirSync(path.dirname(stamp), { recursive: true })
  fs.writeFileSync(stamp, JSON.stringify({ source, addon: hashOfAddon() }))
}

module.exports = { filesOf, hash, hashOfSource, isBuilt, recordBuild, TYPES }

if (require.main === module) process.exitCode = isBuilt() ? 0 : 1
