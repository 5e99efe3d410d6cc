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
  /^(?:exports\.([\w$]+) = ([\w$.]+);|Object\.defineProperty\(exports, "([\w$]+)", \{\s*enumerable: true,\s*get: function\s*\(\) \{\s*return ([\w$.]+);?\s*\}\s*\}\);)\n?/gm
const IS_MODULE =
  /^Object\.define(?:Property\(exports, Symbol\.toStringTag, .*|Properties\(exports, \{[\s\S]*?\}\s*\}\);)\n/m

/** The part that users load: its exports are for them, so other files take from the copies what it has made. */
const FOR_USERS = 'index'

/** `own as name` for each export, as pairs. */
const pairsOf = (list) =>
  list.split(',').map((one) => {
    const [own, name = own] = one.trim().split(' as ')
    return { own, name }
  })

const made = (part, body, pairs) =>
  `${COPIES}.${part} ??= (() => {\n${body}\nreturn { ${pairs.map(({ own, name }) => (own === name ? own : `${name}: ${own}`)).join(', ')} };\n})()`

/** @param {string[]} names those of the exports that the file has; the others are in the copies only */
function shareEs(part, { loads, body }, names) {
  const pairs = pairsOf(ES_EXPORTS.exec(body)[1])
  const isLoaded = ({ own }) => new RegExp(`[{,] (?:[\\w$]+ as )?${own.replaceAll('$', '\\$')}[, ]`).test(loads)
  const [loaded, own] = [pairs.filter(isLoaded), pairs.filter((pair) => !isLoaded(pair))]
  const shown = own.filter(({ name }) => names.includes(name))
  const outside = shown.map(({ name }) => `${name}: ${name}_`).join(', ')
  const named = [
    ...shown.map(({ name }) => `${name}_ as ${name}`),
    ...loaded.map(({ own, name }) => (own === name ? own : `${own} as ${name}`)),
  ].join(', ')
  return `${loads}const { ${outside} } = ${made(part, body.replace(ES_EXPORTS, ''), own)};\nexport { ${named} };\n`
}

function shareCjs(part, { loads, body }) {
  const pairs = [...body.matchAll(CJS_EXPORT)].map(([, name, own, other, got]) => ({
    own: own ?? got,
    name: name ?? other,
  }))
  const rest = body.replace(CJS_EXPORT, '').replace(IS_MODULE, '')
  const unknown = /^(?:exports\.|Object\.define\w+\(exports).*/m.exec(rest)
  if (unknown) throw new Error(`${part}: an export in a form that is not known here: ${unknown}`)
  const all = made(part, rest, pairs)
  return `${loads}module.exports = ${part === FOR_USERS ? `(${all}).default` : all};\n`
}

/** Where a file takes from the part for users, it loads that part, and takes from the copies. */
const takeFromCopies = (code) =>
  code
    .replace(
      new RegExp(`^import \\{([^}]*)\\} from "\\./${FOR_USERS}\\.mjs";\\n((?:import .*\\n)*)`, 'm'),
      (_, list, others) =>
        `import "./${FOR_USERS}.mjs";\n${others}const {${list.replaceAll(' as ', ': ')}} = ${COPIES}.${FOR_USERS};\n`,
    )
    .replace(
      new RegExp(`^const (\\w+) = (require\\("\\./${FOR_USERS}\\.cjs"\\));\\n`, 'm'),
      (_, name, load) => `${load};\nconst ${name} = ${COPIES}.${FOR_USERS};\n`,
    )

/** @param {string[]} parts the files, without their ends; entries only pass on what these have */
const shareCopies = (parts) => ({
  name: 'share-copies',
  renderChunk(code, { fileName, facadeModuleId, exports }, { format }) {
    const part = fileName.replace(/\.[cm]js$/, '')
    if (!parts.includes(part)) return takeFromCopies(code)
    const [loads] = LOADS.exec(code)
    const file = { loads, body: code.slice(loads.length) }
    const names = part === FOR_USERS ? this.getModuleInfo(facadeModuleId).exports : exports
    return takeFromCopies(format === 'es' ? shareEs(part, file, names) : shareCjs(part, file))
  },
})

module.exports = { shareCopies }
