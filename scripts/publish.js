'use strict'

// Publishes the tarballs that scripts/pack-release.js has made: `node scripts/publish.js TAG FOLDER [OPTION...]`. TAG is the
// release's tag; the options go to `npm publish`. The release workflow runs this, and lab/consumers/release tries it with a
// registry on this machine. A run that failed halfway can be started again: packages that are there already are skipped.
// It must never build or pack anything, and needs no package of npm: nothing of theirs runs beside a permission to publish.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

/** What others need goes first, so that nobody can install a package whose parts are missing. */
const ORDER = [/^@flakeforge\//, /^flakeforge$/, /^/]
const rank = ({ name }) => ORDER.findIndex((wanted) => wanted.test(name))

function manifestOf(tarball) {
  const text = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' })
  return { ...JSON.parse(text), tarball }
}

/** The packages of a release in the order in which they are published. */
function packagesIn(folder) {
  const tarballs = fs.readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  return tarballs.map((name) => manifestOf(path.join(folder, name))).toSorted((a, b) => rank(a) - rank(b))
}

/** Everything has the version of the tag, and what the packages need of each other is here. */
function check(packages, tag) {
  const names = packages.map(({ name }) => name)
  if (!names.includes('flakeforge')) throw new Error('There is no tarball of flakeforge')
  for (const { name, version, dependencies, optionalDependencies } of packages) {
    if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, and ${name} has version ${version}`)
    const needed = Object.keys({ ...dependencies, ...optionalDependencies }).filter((each) =>
      /^@?flakeforge/.test(each),
    )
    const missing = needed.find((each) => !names.includes(each))
    if (missing !== undefined) throw new Error(`${name} needs ${missing}, and there is no tarball of it`)
  }
}

/** v1.0.0-rc.1 must not become what `npm install flakeforge` gives. */
const distTag = (tag) => (tag.includes('-') ? 'next' : 'latest')

function isPublished({ name, version }) {
  const { status, stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' })
  return status === 0 && stdout.trim() === version
}

function main([tag, folder, ...more]) {
  if (folder === undefined) throw new Error('usage: node scripts/publish.js TAG FOLDER [OPTION...]')
  const packages = packagesIn(folder)
  check(packages, tag)
  const options = ['--access', 'public', '--tag', distTag(tag), ...more]
  for (const each of packages)
    if (!isPublished(each))
      execFileSync('npm', ['publish', path.resolve(each.tarball), ...options], {
        stdio: ['ignore', 'inherit', 'inherit'],
      })
}

main(process.argv.slice(2))
