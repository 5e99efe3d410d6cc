'use strict'

// One of our CommonJS files as an ES module. It knows only the few forms in which lib/ requires and exports, and refuses any
// other, so that a file never changes its meaning.

const NAMED = /^const (\{[^}]*\}) = require\(('[^']+')\)$/gm
const WHOLE = /^module\.exports = require\(('[^']+')\)$/m
const ANY = /require\(('[^']+')\)/g
const EXPORTS = /^module\.exports = (\{[\w\s,]*\})$/m
const EXPORT = /^exports\.(\w+) = (.+)$/gm
const DEFAULT = /^module\.exports = (?=\[|Object\.)/m

/** A module that exports one value, not names. */
const HAS_DEFAULT = /dialects\.js'$/

/** `{ a, b: c }` as an import has it. */
const renamed = (names) => names.replaceAll(': ', ' as ')

/** A function that loads a module when it is first called: of this file, or `errors` of values.js. */
const LATE = [
  /^const (?<name>\w+) = \(\) => require\('(?<from>[^']+)'\)$/m,
  /^let (?<kept>\w+)\n+function (?<name>\w+)\(\) \{\n {2}\k<kept> \?\?= require\('(?<from>[^']+)'\)\n {2}return \k<kept>\n\}$/m,
]
const LATE_ERRORS = /^(const \{[^}]*?)\b(?<name>errors),?\s*([^}]*\} = require\('(?<folder>[^']+)values\.js'\))$/m

/**
 * An ES module has all modules from the start, each by an import of its own: then a bundler leaves out the names that nobody
 * uses. So `errors().idError()` becomes `errors.idError()`.
 */
function withImports(text) {
  const imports = []
  const take = (groups, plain) => {
    imports.push(`import * as ${groups.name} from '${groups.from ?? `${groups.folder}errors/values.js`}'`)
    return plain.replaceAll(`${groups.name}()`, groups.name)
  }
  let plain = text
  for (const form of LATE) {
    const { groups } = form.exec(plain) ?? {}
    if (groups) plain = take(groups, plain.replace(form, '').replace(new RegExp(`^ {2}${groups.name},\\n`, 'm'), ''))
  }
  const { groups } = LATE_ERRORS.exec(plain) ?? {}
  if (groups) plain = take(groups, plain.replace(LATE_ERRORS, '$1$3'))
  return [...imports, plain].join('\n')
}

/** What a bundler may leave out if nobody uses the name. */
const exported = (name, value) =>
  name === value
    ? `export { ${name} }`
    : `const own_${name} = /* @__PURE__ */ ${value}\nexport { own_${name} as ${name} }`

/**
 * @param {string} text
 * @param {string} file for an error
 */
function asEs(text, file) {
  const imports = []
  const source = withImports(text)
    .replace("'use strict'", '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(NAMED, (_, names, from) => `import ${renamed(names)} from ${from}`)
    .replace(WHOLE, (_, from) => `export * from ${from}`)
    .replace(ANY, (_, from) => {
      imports.push(`import * as $${imports.length} from ${from}`)
      return `$${imports.length - 1}${HAS_DEFAULT.test(from) ? '.default' : ''}`
    })
    .replace(EXPORTS, (_, names) => `export ${names}`)
    .replace(EXPORT, (_, name, value) => exported(name, value))
    .replace(DEFAULT, 'export default ')
  if (/\b(?:require|module|exports)\b[.(]/.test(source)) throw new Error(`${file}: a form that as-es.js does not know`)
  const whole = [...imports, source].join('\n').replace(/^import \{ \} from .*$/gm, '')
  return whole.replace(/\n{2,}/g, '\n').trimStart()
}

module.exports = { asEs }
