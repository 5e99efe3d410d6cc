'use strict'

// Publishes the tarballs of scripts/pack-release.js: `node scripts/publish.js TAG FOLDER DIGESTS [OPTION...]`. TAG is the
// release's tag. DIGESTS are those that scripts/digests.js printed where the tarballs were packed: any other file in
// FOLDER ends the release. The options are passed to `npm publish`. The release workflow runs this, and
// lab/consumers/release tries it with a registry on this machine. If the job failed halfway, it can run again: what is
// published already is skipped. It builds and packs nothing, and needs no package of npm: no third-party code runs with
// the permission to publish.
//
// npm knows the workflow's identity only for packages that exist. Where FIRST_TOKEN is set, as in the workflow, the first
// version of a package is staged with that token instead: it carries provenance like all others, and nobody can install it
// until a maintainer has approved it with a second factor. Nothing else is published meanwhile, since it may need that
// package.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
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

/** What npm publishes under the name of a package whose first version is staged. */
const PLACEHOLDER = '0.0.0-stage'

/** Whether any version of a package can be installed. Only the registry's own "there is none" counts as none. */
function exists({ name }) {
  const { status, stdout, stderr } = spawnSync('npm', ['view', name, 'versions', '--json'], { encoding: 'utf8' })
  if (status === 0) return [JSON.parse(stdout || '[]')].flat().some((version) => version !== PLACEHOLDER)
  if (/\bE404\b/.test(stdout + stderr)) return false
  throw new Error(`npm cannot tell whether ${name} exists:\n${stderr}`)
}

/** Stages the first versions of packages, for which trusted publishing is not possible yet. */
function stageFirst(packages, options, token) {
  const names = packages.map(({ name }) => name).join(', ')
  if (token === '') {
    throw new Error(
      `npm has no package of these names: ${names}. Their first versions are staged with a token of npm: make one that may ` +
        'only stage, put it into the secret NPM_FIRST_TOKEN of the environment npm, and run the failed jobs again',
    )
  }
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  // In a file of its own, since command lines can be read by others.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-first-'))
  const userconfig = path.join(folder, 'npmrc')
  const settings = `registry=${registry}\n${registry.replace(/^https?:/, '')}:_authToken=${token}\n`
  fs.writeFileSync(userconfig, settings, { mode: 0o600 })
  try {
    for (const { tarball } of packages)
      execFileSync('npm', ['stage', 'publish', tarball, ...options, '--userconfig', userconfig], {
        stdio: ['ignore', 'inherit', 'inherit'],
      })
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
  throw new Error(
    `Staged, and not published: ${names}. Compare each with the tarballs of this run (npm stage download), approve it (npm ` +
      'stage approve), make this workflow its trusted publisher, and run the failed jobs again. Then revoke the token',
  )
}

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
  const missing = packages.filter((each) => !isPublished(each))
  const { FIRST_TOKEN: token } = process.env
  delete process.env.FIRST_TOKEN // no child needs it
  const first = token === undefined ? [] : missing.filter((each) => !exists(each))
  if (first.length > 0) stageFirst(first, options, token)
  for (const { tarball } of missing)
    execFileSync('npm', ['publish', tarball, ...options], { stdio: ['ignore', 'inherit', 'inherit'] })
}

main(process.argv.slice(2))
