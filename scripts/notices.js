'use strict'

// Writes THIRD-PARTY of a platform's package: the licences of the crates in its binary, of Rust's own library, and of
// emnapi. Their texts are those in the crates' sources; MIT, where a crate is available under it, since that is the
// licence of flakeforge too. scripts/deny.toml lists the allowed licences. `node scripts/notices.js TRIPLE` prints the
// file.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { sources, treeFor } = require('./crates.js')

const FILE = 'THIRD-PARTY'
const OWN = ['flakeforge', 'flakeforge-core']
const RULE = '-'.repeat(80)

const TEXTS = /^(?:licen[sc]e|copying|copyright|notice|unlicense)/i

const mit = (holders) => `${holders.map((holder) => `Copyright (c) ${holder}`).join('\n')}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/** The files to show for a crate: the text of MIT with its copyright notice, or otherwise all of its texts. */
function filesOf(folder) {
  const all = fs.readdirSync(folder).filter((name) => TEXTS.test(name))
  const ofMit = all.filter((name) => /mit/i.test(name))
  return ofMit.length === 0 ? all : [...all.filter((name) => /^(?:copyright|notice)/i.test(name)), ...ofMit]
}

/** The texts of a crate. Some have none: then it is the text that their licence names. */
function textOf({ name, version, license }, { folder, authors }) {
  const files = filesOf(folder)
  if (files.length > 0) return files.map((file) => fs.readFileSync(path.join(folder, file), 'utf8').trim()).join('\n\n')
  if (!/\bMIT\b/.test(license) || authors.length === 0)
    throw new Error(`${name} ${version} (${license}) has no text of its licence: add what it asks for to notices.js`)
  return mit(authors.map((author) => author.replace(/ <.*>/, '')))
}

const section = (title, license, url, text) =>
  `${RULE}\n${title}\n${license}${url ? `\n${url}` : ''}\n\n${text.replaceAll('\r\n', '\n')}\n`

/** emnapi, which is next to the WebAssembly. */
const EMNAPI = ['@emnapi/core', '@emnapi/runtime', '@emnapi/wasi-threads']

function ofPackage(name) {
  const folder = path.join(__dirname, '..', 'node_modules', ...name.split('/'))
  const { version, license, author, homepage } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
  const authors = [typeof author === 'string' ? author : author.name]
  return section(`${name} ${version}`, license, homepage, textOf({ name, version, license }, { folder, authors }))
}

/** Rust's own library is in each binary too. */
function ofRust() {
  const version = execFileSync('rustc', ['--version'], { encoding: 'utf8' }).trim().replace('rustc ', '')
  const title = `The Rust standard library ${version}`
  return section(
    title,
    'MIT OR Apache-2.0',
    'https://github.com/rust-lang/rust',
    mit(['The Rust Project Contributors']),
  )
}

/**
 * The text for the binary of a target.
 * @param {string} triple as Rust names it
 */
function noticesFor(triple) {
  const found = sources()
  const crates = new Map(treeFor([triple]).map((crate) => [`${crate.name}@${crate.version}`, crate]))
  const others = [...crates].filter(([, { name }]) => !OWN.includes(name)).sort(([a], [b]) => (a < b ? -1 : 1))
  const sections = others.map(([id, crate]) =>
    section(`${crate.name} ${crate.version}`, crate.license, crate.url, textOf(crate, found.get(id))),
  )
  if (triple.startsWith('wasm')) sections.push(...EMNAPI.map(ofPackage))
  return `The binary in this package contains flakeforge (see LICENSE) and the components listed here.\n\n${[...sections, ofRust()].join('\n')}`
}

module.exports = { FILE, noticesFor }

if (require.main === module) process.stdout.write(noticesFor(process.argv[2]))
