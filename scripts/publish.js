'use strict'

// Publishes all packages: `node scripts/publish.js TAG ARTIFACTS [OPTION...]`. TAG is the release's tag, ARTIFACTS the
// folder with what ci.yml has built, in a folder for each target; the options go to `npm publish`. The release workflow
// runs this, and consumers/release tries it with a registry on this machine.
// It changes package.json and npm/ on the way, so it must never run in a folder that somebody works in.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const semver = require('semver')
const { writeNpmDirs } = require('./npm-dirs.js')

const root = path.join(__dirname, '..')
const napi = path.join(root, 'node_modules', '@napi-rs', 'cli', 'cli.mjs')
const run = (program, ...args) => execFileSync(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })

function checkTag(tag, version) {
  if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, and package.json has version ${version}`)
}

/** v1.0.0-rc.1 must not become what `npm install flakeforge` gives. */
const distTag = (version) => (semver.prerelease(version) === null ? 'latest' : 'next')

function main([tag, artifacts, ...options]) {
  if (artifacts === undefined) throw new Error('usage: node scripts/publish.js TAG ARTIFACTS [OPTION...]')
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  checkTag(tag, version)
  // The platform packages take their version and texts from package.json, so they are written again each time.
  writeNpmDirs()
  // Each binary goes to its npm/<platform>/. A missing or extra one is an error here.
  run(process.execPath, napi, 'artifacts', '--output-dir', artifacts)
  // prepublishOnly is `napi prepublish`: it publishes the platform packages and adds them to package.json as
  // optionalDependencies; then npm publishes the root package. So nobody can install a root package without its
  // binaries. npm passes its options to the inner `npm publish` calls through the environment, so they apply to all
  // packages. A run that failed halfway can be started again: platform packages already there are skipped.
  run('npm', 'publish', '--access', 'public', '--tag', distTag(version), ...options)
}

main(process.argv.slice(2))
