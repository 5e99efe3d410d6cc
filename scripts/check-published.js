'use strict'

// Whether what users get from the registry is what was packed: `node scripts/check-published.js TAG DIGESTS [--unsigned]
// [NAME...]`. Installs these packages (or flakeforge, its server and its store checks) in an empty folder, without scripts,
// compares every file with DIGESTS (those of scripts/publish.js), has npm verify signatures and provenance, and makes an ID. It
// runs after publishing, on each kind of machine, and has no rights to anything. --unsigned is for a registry that signs nothing.

const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { readDigests } = require('./digests.js')

const NAMES = ['flakeforge', 'flakeforge-server', 'flakeforge-check-store']
/** A registry shows a new version everywhere within minutes. */
const TRIES = 20
const PAUSE_MS = 15_000

const onWindows = process.platform === 'win32'

function npm(args, cwd) {
  const options = { cwd, encoding: 'utf8', shell: onWindows }
  return spawnSync(onWindows ? 'npm.cmd' : 'npm', args, options)
}

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** Installs, as soon as the registry has all of it. */
function install(names, version, folder) {
  const packages = names.map((name) => `${name}@${version}`)
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-online', ...packages]
  for (let left = TRIES; ; left--) {
    const { status, stderr } = npm(args, folder)
    if (status === 0) return
    if (left === 1 || !/\b(?:E404|ETARGET)\b/.test(stderr))
      throw new Error(`npm cannot install ${packages}:\n${stderr}`)
    sleep(PAUSE_MS)
  }
}

/** The packages of this repository in a lock file, by name. */
function ownPackages(folder) {
  const { packages } = JSON.parse(fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).flatMap(([place, { version, integrity }]) => {
    const name = place.replace(/^.*node_modules\//, '')
    return /^(?:@flakeforge\/|flakeforge)/.test(name) ? [{ name, version, integrity }] : []
  })
}

/** Each package has the content of a tarball that was packed, and the version of the tag. */
function checkContents(folder, names, version, digests) {
  const packed = new Set(Object.values(digests))
  const own = ownPackages(folder)
  const missing = names.find((name) => !own.some((each) => each.name === name))
  if (missing !== undefined) throw new Error(`npm installed no ${missing}`)
  for (const { name, version: installed, integrity } of own) {
    if (installed !== version) throw new Error(`npm installed ${name} ${installed} instead of ${version}`)
    if (!packed.has(integrity))
      throw new Error(`${name} ${version} has the digest ${integrity}: this run packed no such file`)
  }
  return own.map(({ name }) => name)
}

/** npm's own check: each package is signed by the registry, and what has an attestation has a valid one. */
function checkSignatures(folder) {
  const { status, stdout, stderr } = npm(['audit', 'signatures'], folder)
  if (status !== 0 || !/verified attestation/.test(stdout)) {
    throw new Error(`npm audit signatures found no valid provenance:\n${stdout}${stderr}`)
  }
}

function checkUse(folder) {
  const program = "console.log(String(new (require('flakeforge'))({ id: 5 }).nextBigInt()))"
  const id = execFileSync(process.execPath, ['-e', program], { cwd: folder, encoding: 'utf8' }).trim()
  if (!/^\d{17,20}$/.test(id)) throw new Error(`The installed package made '${id}', which is no ID`)
  return id
}

function main([tag, text, ...more]) {
  if (text === undefined) throw new Error('usage: node scripts/check-published.js TAG DIGESTS [--unsigned] [NAME...]')
  const [digests, version] = [readDigests(text), tag.replace(/^v/, '')]
  const named = more.filter((each) => each !== '--unsigned')
  const names = named.length > 0 ? named : NAMES
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-published-'))
  try {
    fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n')
    install(names, version, folder)
    const installed = checkContents(folder, names, version, digests)
    if (!more.includes('--unsigned')) checkSignatures(folder)
    console.log(`${installed.join(', ')} ${version} are what was packed. An ID: ${checkUse(folder)}`)
  } finally {
    fs.rmSync(folder, { recursive: true, maxRetries: 5 })
  }
}

main(process.argv.slice(2))
