'use strict'

// Writes npm/: a package for each platform, with the version and the texts of package.json; and the same into the
// packages of the WebAssembly, which napi does not write. `node scripts/npm-dirs.js` after a change of package.json; a
// release runs it too. Their README and LICENSE are not in git.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { FILE } = require('./notices.js')
const { WASM, allPackages, isPlatform, wasmPackages, writeTexts } = require('./pack.js')

const root = path.join(__dirname, '..')
const napi = path.join(root, 'node_modules', '@napi-rs', 'cli', 'cli.mjs')

/** What packages of the WebAssembly take from package.json. They have their own description, files and platforms. */
const SHARED = ['version', 'author', 'homepage', 'license', 'repository', 'bugs']

const write = (folder, manifest) =>
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)

function writeShared({ folder, manifest }) {
  const main = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  for (const name of SHARED) manifest[name] = main[name]
  for (const needed of [manifest.dependencies, manifest.peerDependencies])
    for (const name of [WASM, main.name]) if (needed?.[name] !== undefined) needed[name] = main.version
  write(folder, manifest)
}

/**
 * Lets napi write its packages next to npm/. The WebAssembly is not one of its targets, because for that it asks a
 * registry for the newest versions of packages. So in npm/ itself it would treat the package of the WebAssembly as
 * stale, and remove its files.
 */
function writePlatforms() {
  const aside = path.join('target', 'npm-dirs')
  fs.rmSync(path.join(root, aside), { recursive: true, force: true }) // of a run that was stopped
  const args = [napi, 'create-npm-dirs', '--npm-dir', aside]
  execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  fs.cpSync(path.join(root, aside), path.join(root, 'npm'), { recursive: true })
  fs.rmSync(path.join(root, aside), { recursive: true })
}

function writeNpmDirs() {
  writePlatforms()
  for (const each of wasmPackages()) writeShared(each)
  for (const { folder, manifest } of allPackages()) {
    writeTexts({ folder, manifest })
    const files = isPlatform({ manifest }) ? [manifest.main, FILE] : manifest.files
    write(folder, { ...manifest, files, keywords: undefined }) // a search on npm should find the package, not its parts
  }
}

module.exports = { writeNpmDirs }

if (require.main === module) writeNpmDirs()
