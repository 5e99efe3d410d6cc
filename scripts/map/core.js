'use strict'

// The files of core/src/ and what they use: everything that their code names with `crate::`, with `super::`, or by a
// module that they declare. Unit tests are not included.

const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const { purposeOf } = require('./purpose.js')

const SOURCES = path.join(__dirname, '..', '..', 'core', 'src')

/** The code without comments, and without the `super::` of modules inside the file, which means the file itself. */
const codeOf = (text) =>
  text
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^(?:pub )?mod \w+ \{$.*?^\}$/gms, (inner) => inner.replaceAll('super::', ''))

/** `a::{b, c::d}` as `a::b` and `a::c::d`. */
function spread(text) {
  const one = text.replace(/([\w:]*::)\{([^{}]*)\}/, (_, before, names) =>
    names
      .split(',')
      .map((name) => before + name.trim())
      .join(', '),
  )
  return one === text ? text : spread(one)
}

/** Everything that the code names, as paths from the root of the crate: `['files', 'mark', 'Mark']`. */
function namesIn(text, module) {
  const code = spread(codeOf(text))
  const named = (pattern, from) => [...code.matchAll(pattern)].map(([, rest]) => [...from, ...rest.split('::')])
  const children = [...code.matchAll(/^\s*(?:pub(?:\(\w+\))? )?mod (\w+);/gm)].map(([, name]) => name)
  return [
    ...named(/\bcrate::([\w:]+)/g, []),
    ...named(/\bsuper::([\w:]+)/g, module.slice(0, -1)),
    ...children.flatMap((child) => named(new RegExp(`(?<![\\w:])(${child}::\\w+)`, 'g'), module)),
  ]
}

/** The file for the name in a path: that of the longest part of the path which is a module. */
function fileOf(name, files) {
  for (let end = name.length; end > 0; end--) {
    const file = `${name.slice(0, end).join('/')}.rs`
    if (files.includes(file)) return file
  }
}

function readCore() {
  const all = readdirSync(SOURCES, { recursive: true }).map((name) => name.replaceAll('\\', '/'))
  const files = all.filter((name) => name.endsWith('.rs') && name !== 'lib.rs' && !name.endsWith('tests.rs')).sort()
  return files.map((file) => {
    const text = readFileSync(path.join(SOURCES, file), 'utf8')
    const used = namesIn(text, file.replace(/\.rs$/, '').split('/')).map((name) => fileOf(name, files))
    const uses = [...new Set(used)].filter((other) => other !== undefined && other !== file)
    return { file, purpose: purposeOf(path.join(SOURCES, file)), uses }
  })
}

module.exports = { readCore }
