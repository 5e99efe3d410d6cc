'use strict'

// Publishes the tarballs of scripts/pack-release.js: `node scripts/publish.js TAG FOLDER [OPTION...]`. TAG is the
// release's tag; the options are passed to `npm publish`. The release workflow runs this, and lab/consumers/release
// tries it with a registry on this machine. A run that failed halfway can be repeated: published packages are skipped.
// It builds and packs nothing, and needs no package of npm: no third-party code runs with the permission to publish.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

/** Dependencies are published first, so that a package whose parts are missing can never be installed. */
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

/** Everything has the version of the tag, and the packages that they need of each other are here. */
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

/** v1.0.0-rc.1 must not become the version that `npm install flakeforge` installs. */
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
