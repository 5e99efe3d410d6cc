'use strict'

// The requirements for installing or building anything here: a new enough Node.js and a new enough Rust. One sentence
// names what is missing, and where to get it. Old versions of Node.js must be able to read this file, or they would
// show a syntax error instead: so use no syntax newer than ES2019 here (no `?.`, no `??`).

const { spawnSync } = require('child_process')
const fs = require('fs')
const os = require('os')
const path = require('path')

const root = path.join(__dirname, '..')

/** A problem with this machine: to be shown as a message without a stack. */
class MissingRequirement extends Error {}

/** Whether a version like '1.95.0' is at least the required one, like '1.89'. */
function isAtLeast(version, needed) {
  const [have, want] = [version, needed].map((text) => text.split('.').map(Number))
  const position = want.findIndex((number, i) => have[i] !== number)
  return position === -1 || have[position] > want[position]
}

/** Whether a version is in a range such as '^20.16' or '>=22.3'. */
function isIn(version, range) {
  const least = range.replace(/[^\d.]/g, '')
  const isMajorRight = range[0] !== '^' || version.split('.')[0] === least.split('.')[0]
  return isMajorRight && isAtLeast(version, least)
}

function checkNode() {
  const { engines } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  if (engines.node.split(' || ').some((range) => isIn(process.versions.node, range))) return
  throw new MissingRequirement(
    `flakeforge needs Node.js ${engines.node} and this is ${process.versions.node}: install a newer one from https://nodejs.org`,
  )
}

/** Rust can be installed without being in PATH: in the terminal that installed it, for example. */
function isOutsidePath(bin) {
  return fs.existsSync(path.join(bin, process.platform === 'win32' ? 'cargo.exe' : 'cargo'))
}

function whyRustIsMissing(needed) {
  const bin = path.join(process.env.CARGO_HOME || path.join(os.homedir(), '.cargo'), 'bin')
  if (isOutsidePath(bin))
    return `Rust is installed, but ${bin} is not in your PATH: open a new terminal, or add it to PATH`
  return `flakeforge is built from source here and needs Rust ${needed} or newer: install it from https://rustup.rs`
}

function checkRust() {
  const needed = fs.readFileSync(path.join(root, 'Cargo.toml'), 'utf8').match(/^rust-version = "([\d.]+)"/m)[1]
  for (const program of ['cargo', 'rustc']) {
    const { error, status, stdout, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8' })
    if (error) throw new MissingRequirement(whyRustIsMissing(needed))
    if (status !== 0)
      throw new MissingRequirement(`Rust does not work here, '${program} --version' fails: ${stderr.trim()}`)
    const [version] = stdout.match(/\d+\.\d+\.\d+/)
    if (isAtLeast(version, needed)) continue
    throw new MissingRequirement(
      `flakeforge needs Rust ${needed} or newer and this is ${program} ${version}: run 'rustup update', or install it from https://rustup.rs`,
    )
  }
}

module.exports = { MissingRequirement, checkNode, checkRust }
