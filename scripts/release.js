'use strict'

// `npm run release -- 0.2.0` prepares a release: it writes the version wherever it appears, dates the changelog,
// commits and tags. It pushes nothing, and leaves no half-finished release: everything is checked first, and if a step
// fails, all changes are undone.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const semver = require('semver')
const { releasedChangelog, unreleased } = require('./changelog.js')
const { writeNpmDirs } = require('./npm-dirs.js')
const { npm } = require('./pack.js')

const root = path.join(__dirname, '..')
const read = (file) => fs.readFileSync(path.join(root, file), 'utf8')
const write = (file, text) => fs.writeFileSync(path.join(root, file), text)

/** The reason why there is no release, for the maintainer: shown without a stack. */
class Refusal extends Error {}

function run(program, ...args) {
  return execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}
const git = (...args) => run('git', ...args).trim()

function check(version, now) {
  if (version === undefined) throw new Refusal('usage: npm run release -- X.Y.Z')
  if (semver.valid(version) !== version)
    throw new Refusal(`'${version}' is not a version: it must look like 1.2.3 or 1.2.3-rc.1`)
  if (!semver.gt(version, now)) throw new Refusal(`${version} must be greater than the present version, ${now}`)
  if (git('tag', '--list', `v${version}`) !== '') throw new Refusal(`There is a tag v${version} already`)
  const changes = git('status', '--porcelain')
  if (changes !== '') throw new Refusal(`Commit or remove these changes first:\n${changes}`)
  try {
    unreleased(read('CHANGELOG.md'))
  } catch ({ message }) {
    throw new Refusal(message)
  }
}

/** Replaces a text that must be there exactly once: otherwise the file's format has changed. */
function replaceOnce(file, before, after) {
  const parts = read(file).split(before)
  if (parts.length !== 2) throw new Error(`${file} has this text ${parts.length - 1} times instead of once: ${before}`)
  write(file, parts.join(after))
}

/**
 * Writes the version into each file that contains it. Cargo itself would look for newer crates when it writes a lock
 * file.
 */
function writeVersion(version, now) {
  npm(['version', version, '--no-git-tag-version', '--ignore-scripts', '--no-workspaces-update'], root) // package.json, package-lock.json
  writeOthersVersion(version, now)
  replaceOnce('Cargo.toml', `\nversion = "${now}"\n`, `\nversion = "${version}"\n`)
  for (const [file, crate] of [
    ['Cargo.lock', 'flakeforge'],
    ['Cargo.lock', 'flakeforge-core'],
    ['core/fuzz/Cargo.lock', 'flakeforge-core'],
  ])
    replaceOnce(file, `\nname = "${crate}"\nversion = "${now}"\n`, `\nname = "${crate}"\nversion = "${version}"\n`)
  writeNpmDirs()
}

/** The packages next to it have the same version, and depend on exactly this one. */
function writeOthersVersion(version, now) {
  const lock = 'package-lock.json'
  const dependency = (of) => `"flakeforge": "${of}"`
  for (const name of ['server', 'check-store']) {
    const manifest = `packages/${name}/package.json`
    replaceOnce(manifest, `\n  "version": "${now}",\n`, `\n  "version": "${version}",\n`)
    replaceOnce(manifest, dependency(now), dependency(version))
    const entry = (of) => `\n      "name": "flakeforge-${name}",\n      "version": "${of}",\n`
    replaceOnce(lock, entry(now), entry(version))
  }
  write(lock, read(lock).replaceAll(dependency(now), dependency(version)))
}

function writeChangelog(version) {
  const date = new Date().toISOString().slice(0, 10)
  const { homepage } = JSON.parse(read('package.json'))
  const release = { version, date, repository: homepage.replace(/#.*/, '') }
  write('CHANGELOG.md', releasedChangelog(read('CHANGELOG.md'), release))
}

/** Lets Cargo reject lock files that are not up to date: here, and not only in CI. */
function checkLockFiles() {
  for (const manifest of ['Cargo.toml', 'core/fuzz/Cargo.toml'])
    run('cargo', 'tree', '--quiet', '--locked', '--depth', '0', '--manifest-path', manifest)
}

function release(version, now) {
  const before = git('rev-parse', 'HEAD')
  try {
    writeVersion(version, now)
    writeChangelog(version)
    checkLockFiles()
    git('commit', '--quiet', '--all', '--message', `Release ${version}`)
    git('tag', '--annotate', `v${version}`, '--message', `flakeforge ${version}`)
  } catch (error) {
    git('reset', '--quiet', '--hard', before)
    throw error
  }
}

function main([version]) {
  const now = JSON.parse(read('package.json')).version
  try {
    check(version, now)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    console.error(error.message)
    process.exitCode = 1
    return
  }
  release(version, now)
  console.log(`Version ${version} is committed and tagged as v${version}. Nothing has been pushed.

To publish it:    git push --atomic origin HEAD v${version}
                  (.github/workflows/release.yml then builds, tests and publishes all packages)
To take it back:  git tag --delete v${version} && git reset --hard HEAD~1`)
}

main(process.argv.slice(2))
