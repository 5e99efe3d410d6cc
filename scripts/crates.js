'use strict'

// The crates that are compiled into the addon, as Cargo lists them: no build tools, and no crates that only tests use.

const { execFileSync } = require('node:child_process')
const path = require('node:path')

const root = path.join(__dirname, '..')

const cargo = (args) => execFileSync('cargo', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })

/**
 * Cargo's tree: a row for each line, with the depth of its crate; one tree for each target.
 * @param {string[]} targets by Rust's names
 */
function treeFor(targets) {
  const shape = ['--edges', 'normal,no-proc-macro', '--no-dedupe', '--prefix', 'depth', '--format', '{p}|{l}|{r}']
  const named = targets.flatMap((target) => ['--target', target])
  const lines = cargo(['tree', '--quiet', '--locked', '--package', 'flakeforge', ...named, ...shape]).split('\n')
  return lines.filter(Boolean).map(parse)
}

function parse(line) {
  const [, depth, name, version, license, url] = line.match(/^(\d+)(\S+) v(\S+)[^|]*\|([^|]*)\|(.*)$/)
  return { depth: Number(depth), name, version, license, url, ref: `pkg:cargo/${name}@${version}` }
}

/** The folder of each crate's sources and its authors, by name and version. */
function sources() {
  const { packages } = JSON.parse(cargo(['metadata', '--locked', '--format-version', '1']))
  return new Map(
    packages.map(({ name, version, authors, manifest_path }) => [
      `${name}@${version}`,
      { authors, folder: path.dirname(manifest_path) },
    ]),
  )
}

module.exports = { sources, treeFor }
