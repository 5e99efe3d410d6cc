'use strict'

// One process may load both formats of this package, or it twice. A plugin for rolldown: what a file of dist/ makes is made
// once for each version; the file that is loaded first makes it, and every other one takes that. So there is one copy of every
// class, and an object of one format is an object of the other.

const { version } = require('../package.json')

/** Where a process keeps what was made: an object by the name of the part. */
const KEY = `Symbol.for("flakeforge@${version}")`
const COPIES = `(globalThis[${KEY}] ?? Object.defineProperty(globalThis, ${KEY}, { value: {} })[${KEY}])`

const LOADS = /^(?:import [^\n]*\n|const require_\w+ = require\([^\n]*\n)*/
const ES_EXPORTS = /^export \{([^}]*)\};?\s*$/m
const CJS_EXPORT =
  /^(?:exports\.(\w+) = ([\w$]+);|Object\.defineProperty\(exports, "(\w+)", \{\s*enumerable: true,\s*get: function\s*\(\) \{\s*return ([\w$]+);?\s*\}\s*\}\);)\n?/gm
const IS_MODULE = /^Object\.defineProperty\(exports, Symbol\.toStringTag, .*\n/m

/** `own as name` for each export, as pairs. */
const pairsOf = (list) =>
  list.split(',').map((one) => {
    const [own, name = own] = one.trim().split(' as ')
    return { own, name }
  })

const made = (part, body, pairs) =>
  `${COPIES}.${part} ??= (() => {\n${body}\nreturn { ${pairs.map(({ own, name }) => (own === name ? own : `${name}: ${own}`)).join(', ')} };\n})()`

function shareEs(part, loads, body) {
  const pairs = pairsOf(ES_EXPORTS.exec(body)[1])
  const outside = pairs.map(({ name }) => `${name}: ${name}_`).join(', ')
  const named = pairs.map(({ name }) => `${name}_ as ${name}`).join(', ')
  return `${loads}const { ${outside} } = ${made(part, body.replace(ES_EXPORTS, ''), pairs)};\nexport { ${named} };\n`
}

function shareCjs(part, loads, body) {
  const pairs = [...body.matchAll(CJS_EXPORT)].map(([, name, own, other, got]) => ({
    own: own ?? got,
    name: name ?? other,
  }))
  const rest = body.replace(CJS_EXPORT, '').replace(IS_MODULE, '')
  if (/^(?:exports\.|Object\.defineProperty\(exports)/m.test(rest))
    throw new Error(`${part}: an export in a form that is not known here`)
  return `${loads}module.exports = ${made(part, rest, pairs)};\n`
}

/** @param {string[]} parts the files, without their ends; entries only pass on what these have */
const shareCopies = (parts) => ({
  name: 'share-copies',
  renderChunk(code, { fileName }, { format }) {
    const part = fileName.replace(/\.[cm]js$/, '')
    if (!parts.includes(part)) return
    const [loads] = LOADS.exec(code)
    return (format === 'es' ? shareEs : shareCjs)(part, loads, code.slice(loads.length))
  },
})

module.exports = { shareCopies }
