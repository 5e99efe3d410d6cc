'use strict'

// What the image of the server is built from in a release: `node scripts/pack-image.js TARBALLS FOLDER DIGESTS` copies the
// tarballs that are published (scripts/pack-release.js) for this machine's processor into FOLDER, with the files by which `npm ci`
// installs them. DIGESTS are those of scripts/publish.js. scripts/pack.js does the same for a build of this clone.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { checkDigests, readDigests } = require('./digests.js')
const { writeLock } = require('./server-lock.js')

/** The base image has glibc. */
const NAMES = ['flakeforge', `@flakeforge/binding-linux-${process.arch}-gnu`, 'flakeforge-server']

const nameIn = (tarball) =>
  JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' })).name

function main([tarballs, folder, text]) {
  if (text === undefined) throw new Error('usage: node scripts/pack-image.js TARBALLS FOLDER DIGESTS')
  checkDigests(tarballs, readDigests(text))
  const files = new Map(fs.readdirSync(tarballs).map((file) => [nameIn(path.join(tarballs, file)), file]))
  const missing = NAMES.find((name) => !files.has(name))
  if (missing !== undefined) throw new Error(`There is no tarball of ${missing}`)
  fs.mkdirSync(folder, { recursive: true })
  const wanted = NAMES.map((name) => files.get(name))
  for (const file of wanted) fs.copyFileSync(path.join(tarballs, file), path.join(folder, file))
  writeLock(folder, wanted)
}

main(process.argv.slice(2))
