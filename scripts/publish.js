'use strict'

// Publishes all packages: `node scripts/publish.js TAG ARTIFACTS [OPTION...]`. TAG is the release's tag, ARTIFACTS the
// folder with what ci.yml has built, in a folder for each target; the options go to `npm publish`. The release workflow
// runs this, and lab/consumers/release tries it with a registry on this machine.
// It changes package.json and npm/ on the way, so it must never run in a folder that somebody works in.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const semver = require('semver')
const { writeNpmDirs } = require('./npm-dirs.js')
const { WASM, checkStorePackage, serverPackage, wasmPackages } = require('./pack.js')

const root = path.join(__dirname, '..')
const napi = path.join(root, 'node_modules', '@napi-rs', 'cli', 'cli.mjs')
const run = (program, args, cwd = root) => execFileSync(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })

/** The target of the WebAssembly, as Rust calls it. */
const WASM_TARGET = 'wasm32-wasip1-threads'

function checkTag(tag, version) {
  if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, and package.json has version ${version}`)
}

/** v1.0.0-rc.1 must not become what `npm install flakeforge` gives. */
const distTag = (version) => (semver.prerelease(version) === null ? 'latest' : 'next')

/** Moves what was built into the package with the WebAssembly. napi must not see it, as it is none of its targets. */
function moveWasm(artifacts) {
  const from = path.join(artifacts, `bindings-${WASM_TARGET}`)
  const { folder, manifest } = wasmPackages().find((each) => each.manifest.name === WASM)
  for (const name of manifest.files.filter((each) => fs.existsSync(path.join(from, each))))
    fs.cpSync(path.join(from, name), path.join(folder, name), { recursive: true })
  fs.rmSync(from, { recursive: true, force: true })
  const missing = manifest.files.find((name) => !fs.existsSync(path.join(folder, name)))
  if (missing !== undefined) throw new Error(`${WASM} has no ${missing}, and ${from} brought none`)
}

function isPublished({ name, version }) {
  const { status, stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], {
    cwd: root,
    encoding: 'utf8',
  })
  return status === 0 && stdout.trim() === version
}

/** Publishes what napi does not, and names it in package.json where a package manager has to choose. */
function publishWasm(options) {
  const file = path.join(root, 'package.json')
  const main = JSON.parse(fs.readFileSync(file, 'utf8'))
  for (const { folder, manifest } of wasmPackages()) {
    if (!isPublished(manifest)) run('npm', ['publish', ...options], folder)
    // The WebAssembly itself fits every machine, so it must come through the packages that do not.
    if (manifest.os || manifest.cpu)
      main.optionalDependencies = { ...main.optionalDependencies, [manifest.name]: main.version }
  }
  fs.writeFileSync(file, `${JSON.stringify(main, null, 2)}\n`)
}

/** Those beside the main package come last: the server depends on exactly this version of it. */
function publishOthers(options) {
  for (const { folder, manifest } of [checkStorePackage(), serverPackage()])
    if (!isPublished(manifest)) run('npm', ['publish', ...options], folder)
}

function main([tag, artifacts, ...more]) {
  if (artifacts === undefined) throw new Error('usage: node scripts/publish.js TAG ARTIFACTS [OPTION...]')
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  checkTag(tag, version)
  const options = ['--access', 'public', '--tag', distTag(version), ...more]
  // The platform packages take their version and texts from package.json, so they are written again each time.
  writeNpmDirs()
  moveWasm(artifacts)
  // Each binary goes to its npm/<platform>/. A missing or extra one is an error here.
  run(process.execPath, [napi, 'artifacts', '--output-dir', artifacts])
  publishWasm(options)
  // prepublishOnly is `napi prepublish`: it publishes the platform packages and adds them to package.json as
  // optionalDependencies; then npm publishes the root package. So nobody can install a root package without its
  // binaries. npm passes its options to the inner `npm publish` calls through the environment, so they apply to all
  // packages. A run that failed halfway can be started again: packages already there are skipped.
  run('npm', ['publish', ...options])
  publishOthers(options)
}

main(process.argv.slice(2))
