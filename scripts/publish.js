'use strict'

// Publishes the tarballs of scripts/pack-release.js: `node scripts/publish.js TAG FOLDER DIGESTS [OPTION...]`. TAG is the
// release's tag. DIGESTS are those that scripts/digests.js printed where the tarballs were packed: any other file in
// FOLDER ends the release. The options are passed to `npm publish`. The release workflow runs this, and
// lab/consumers/release tries it with a registry on this machine. If the job failed halfway, it can run again: what is
// published already is skipped. It builds and packs nothing, and needs no package of npm: no third-party code runs with
// the permission to publish.

const { execFileSync, spawnSync } = require('node:child_process')
const path = require('node:path')
const { checkDigests, readDigests } = require('./digests.js')

/** Dependencies are published first, so that a package whose parts are missing can never be installed. */
const ORDER = [/^@flakeforge\//, /^flakeforge$/, /^/]
const rank = ({ name }) => ORDER.findIndex((wanted) => wanted.test(name))

function manifestOf(tarball) {
  const text = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' })
  return { ...JSON.parse(text), tarball }
}

/** The packages of a release in the order in which they are published. */
function packagesIn(folder, digests) {
  checkDigests(folder, digests)
  return Object.entries(digests)
    .map(([file, digest]) => ({ ...manifestOf(path.resolve(folder, file)), digest }))
    .toSorted((a, b) => rank(a) - rank(b))
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

/** Whether this tarball is published. Another one with its name and version does not belong to this release. */
function isPublished({ name, version, digest }) {
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], { encoding: 'utf8' })
  const published = stdout.trim()
  if (published !== '' && published !== digest)
    throw new Error(
      `${name} ${version} is published with the digest ${published}, and this tarball has ${digest}: run the failed jobs ` +
        'of the workflow run that packed it again, or release another version',
    )
  return published === digest
}

function main([tag, folder, digests, ...more]) {
  if (digests === undefined) throw new Error('usage: node scripts/publish.js TAG FOLDER DIGESTS [OPTION...]')
  const packages = packagesIn(folder, readDigests(digests))
  check(packages, tag)
  const options = ['--access', 'public', '--tag', distTag(tag), ...more]
  for (const { tarball } of packages.filter((each) => !isPublished(each)))
    execFileSync('npm', ['publish', tarball, ...options], { stdio: ['ignore', 'inherit', 'inherit'] })
}

main(process.argv.slice(2))
