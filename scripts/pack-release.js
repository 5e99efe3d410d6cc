'use strict'

// Packs everything that a release publishes: `node scripts/pack-release.js ARTIFACTS FOLDER DIGESTS`. ARTIFACTS is the
// folder with what ci.yml built, in a folder for each target; FOLDER gets a tarball of each package. DIGESTS are the
// outputs of the jobs that built: `[{ TARGET: digests of its files }, ...]`. ci.yml runs this once: its jobs test the
// files that are written here, and release.yml publishes them. Files in git stay unchanged.

const fs = require('node:fs')
const path = require('node:path')
const { checkDigests, readDigests } = require('./digests.js')
const { ownPathProblems } = require('./own-paths.js')
const { WASM, allPackages, pack, packCheckStore, packMain, packServer, writeTexts } = require('./pack.js')
const { TARGETS } = require('./platforms/targets.js')

const folderOf = (triple, artifacts) => path.join(artifacts, `bindings-${triple}`)

/** The folder with the build for a package under npm/; undefined if there is none. */
function builtFor({ folder }, artifacts) {
  const target = TARGETS.find(({ name }) => name === path.basename(folder))
  return target && folderOf(target.triple, artifacts)
}

/** The binaries come from runners of several systems, each with its own folders. */
function checkPaths({ files }, folder) {
  for (const file of files.filter((name) => /\.(?:node|wasm)$/.test(name))) {
    const [problem] = ownPathProblems(fs.readFileSync(path.join(folder, file)))
    if (problem !== undefined) throw new Error(`${file} ${problem}`)
  }
}

/** Packs a package under npm/ with its binary and its texts. */
function packPart(part, artifacts, target) {
  const { folder, manifest } = part
  const complete = fs.mkdtempSync(path.join(target, 'part-'))
  fs.cpSync(folder, complete, { recursive: true })
  writeTexts({ folder: complete, manifest })
  const from = builtFor(part, artifacts)
  for (const file of from ? manifest.files : [])
    if (fs.existsSync(path.join(from, file)))
      fs.cpSync(path.join(from, file), path.join(complete, file), { recursive: true })
  const missing = manifest.files.find((file) => !fs.existsSync(path.join(complete, file)))
  if (missing !== undefined) throw new Error(`${manifest.name} has no ${missing}, and ${from} brought none`)
  checkPaths(manifest, complete)
  pack(complete, target)
  fs.rmSync(complete, { recursive: true })
}

/** A build that belongs to no package: then a package is missing, or has another name. */
function checkArtifacts(parts, artifacts) {
  const used = parts.map((part) => builtFor(part, artifacts))
  const unused = fs.readdirSync(artifacts).find((name) => !used.includes(path.join(artifacts, name)))
  if (unused !== undefined) throw new Error(`No package has what is in ${path.join(artifacts, unused)}`)
}

/** Every build is the one whose digests its own job put out. */
function checkBuilds(artifacts, outputs) {
  const digests = new Map(JSON.parse(outputs).flatMap(Object.entries))
  for (const [triple, text] of digests) checkDigests(folderOf(triple, artifacts), readDigests(text))
  const checked = [...digests.keys()].map((triple) => folderOf(triple, artifacts))
  const unknown = fs.readdirSync(artifacts).find((name) => !checked.includes(path.join(artifacts, name)))
  if (unknown !== undefined) throw new Error(`No job put out digests of ${path.join(artifacts, unknown)}`)
}

function packRelease(artifacts, target, outputs) {
  const parts = allPackages()
  checkArtifacts(parts, artifacts)
  checkBuilds(artifacts, outputs)
  fs.mkdirSync(target, { recursive: true })
  for (const part of parts) packPart(part, artifacts, target)
  // The WebAssembly fits every machine, so only the packages for machines without a binary may install it.
  packMain(
    target,
    parts.map(({ manifest }) => manifest).filter(({ name }) => name !== WASM),
  )
  packServer(target)
  packCheckStore(target)
}

const [artifacts, target, outputs] = process.argv.slice(2)
if (outputs === undefined) {
  console.error('usage: node scripts/pack-release.js ARTIFACTS FOLDER DIGESTS')
  process.exitCode = 2
} else {
  packRelease(path.resolve(artifacts), path.resolve(target), outputs)
}
