'use strict'

// `npm run size`: the size of the repository, in lines, and of the package that npm publishes. `npm run size -- 20`
// also names the 20 folders with the most lines.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { buildDist, npm } = require('./pack.js')

const root = path.join(__dirname, '..')
const isLock = (file) => /(?:^|\/)(?:package-lock\.json|Cargo\.lock)$/.test(file)
const isPicture = (file) => /\.(?:png|svg|ico)$/.test(file)

const tracked = () =>
  execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
const linesOf = (file) => fs.readFileSync(path.join(root, file), 'latin1').split('\n').length - 1
const sum = (files) => files.reduce((lines, file) => lines + linesOf(file), 0)

function largest(files, count) {
  const folders = new Map()
  for (const file of files) {
    const folder = file.split('/').slice(0, -1).slice(0, 2).join('/') || '.'
    folders.set(folder, (folders.get(folder) ?? 0) + linesOf(file))
  }
  return [...folders].sort(([, a], [, b]) => b - a).slice(0, count)
}

function main(count) {
  const files = tracked()
  const ours = files.filter((file) => !isLock(file) && !isPicture(file))
  buildDist()
  const [pack] = JSON.parse(npm(['pack', '--dry-run', '--json', '--ignore-scripts'], root))
  console.log(`${sum(ours)} lines in git, in ${ours.length} files, without lock files and pictures`)
  for (const [folder, lines] of largest(ours, count)) console.log(`${String(lines).padStart(7)} ${folder}`)
  console.log(`${sum(files.filter(isLock))} lines of lock files`)
  console.log(`npm package: ${pack.entryCount} files, ${pack.size} bytes packed, ${pack.unpackedSize} unpacked`)
}

main(Number(process.argv[2] ?? 0))
