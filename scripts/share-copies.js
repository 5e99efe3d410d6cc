'use strict'

// One process may load both formats of this package, or it twice. A plugin for rolldown: what a file of dist/ makes is made
// once for each version; the file that is loaded first makes it, and every other one takes that. So there is one copy of every
// class, and an object of one format is an object of the other. What the first ID does not need is in the package once: both
// formats load the same file, which is CommonJS.

const { version } = require('../package.json')

/** Where a process keeps what was made: an object by the name of the part. */
const KEY = `Symbol.for("flakeforge@${version}")`
const COPIES = `(globalThis[${KEY}] ?? Object.defineProperty(globalThis, ${KEY}, { value: {} })[${KEY}])`

const LOADS = /^(?:"use strict";\n+)?(?:import [^\n]*\n|const require_\w+ = require\([^\n]*\n)*/
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

const asObject = (pairs) => `{ ${pairs.map(({ own, name }) => (own === name ? own : `${name}: ${own}`)).join(', ')} }`

const made = (part, body, pairs) => `${COPIES}.${part} ??= (() => {\n${body}\nreturn ${asObject(pairs)};\n})()`

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

const LOAD_ES = /^import (?:\{([^}]*)\} from )?"\.\/(\w+)\.mjs";\n/gm

/**
 * The file that both formats load: a function of the copies. Whoever calls it has loaded what it takes from them. The file itself
 * takes nothing, because test runners with contexts of their own run CommonJS before the modules that stand above it.
 */
function oneFile(part, { loads, body }) {
  const taken = loads.replace(LOAD_ES, (_, list, from) =>
    list ? `const {${list.replaceAll(' as ', ': ')}} = copies.${from};\n` : '',
  )
  const all = asObject(pairsOf(ES_EXPORTS.exec(body)[1]))
  const rest = `${taken}${body.replace(ES_EXPORTS, '')}\nreturn (copies.${part} = ${all});`
  // In parentheses, so that V8 compiles it at once and not in two steps.
  return `"use strict";\nmodule.exports = (function (copies) {\nif (copies.${part} !== undefined) return copies.${part};\n${rest}\n});\n`
}

/**
 * What an ES module imports of it. Before Node gives a file of CommonJS to a module, it searches the whole text for exports, and
 * files that are passed on as they are too, which takes longer than to load them. In this one there is little to search.
 */
const doorTo = (part) => `const make = require("./${part}-once.cjs");\nmodule.exports = { make };\n`

function loadFromEs(part, { loads }, names) {
  const before = loads.replace(LOAD_ES, 'import "./$2.mjs";\n')
  return `${before}import door from "./${part}-door.cjs";\nexport const { ${names.join(', ')} } = door.make(${COPIES});\n`
}

const loadFromCjs = (part, { loads }) =>
  `${loads.replace(/^const \w+ = /gm, '')}module.exports = require("./${part}-once.cjs")(${COPIES});\n`

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

/**
 * @param {string[]} parts the files, without their ends; entries only pass on what these have
 * @param {string[]} once those of them that both formats load
 */
const shareCopies = (parts, once) => ({
  name: 'share-copies',
  renderChunk(code, { fileName, facadeModuleId, exports }, { format }) {
    const part = fileName.replace(/\.[cm]js$/, '')
    if (!parts.includes(part)) return takeFromCopies(code)
    const [loads] = LOADS.exec(code)
    const file = { loads, body: code.slice(loads.length) }
    const isEs = format === 'es'
    if (once.includes(part)) {
      if (!isEs) return loadFromCjs(part, file)
      this.emitFile({ type: 'asset', fileName: `${part}-once.cjs`, source: oneFile(part, file) })
      this.emitFile({ type: 'asset', fileName: `${part}-door.cjs`, source: doorTo(part) })
      return loadFromEs(part, file, exports)
    }
    const names = part === FOR_USERS ? this.getModuleInfo(facadeModuleId).exports : exports
    return takeFromCopies(isEs ? shareEs(part, file, names) : shareCjs(part, file))
  },
})

module.exports = { shareCopies }
