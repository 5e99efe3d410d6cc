'use strict'

// The entries of the package: what users import and require. The build, the types, and `exports`, `typesVersions` and
// `files` of package.json are made from this list; `node scripts/entries.js` writes the latter three.

const fs = require('node:fs')
const path = require('node:path')

const MANIFEST = path.join(__dirname, '..', 'package.json')

/**
 * @typedef {object} Entry
 * @property {string} name of its file in lib/entries/, and in dist/
 * @property {string} [web] the file of lib/entries/ for browsers; if it is another one than for Node, it has a CommonJS form too
 * @property {boolean} [isFunction] it is a function, for `require` alone
 */

/** @type {Entry[]} */
const ENTRIES = [
  { name: 'index', web: 'browser' },
  { name: 'lease', web: 'browser-lease' },
  { name: 'codec', web: 'codec' },
  { name: 'remote', web: 'remote' },
  { name: 'metrics' },
  { name: 'biguint-format', isFunction: true },
]

/** What `import` loads too, under the names of its exports. */
const IMPORTED = ENTRIES.filter(({ isFunction }) => !isFunction).map(({ name }) => name)
const WEB = ENTRIES.filter(({ web }) => web !== undefined)
/** Those that have other code in browsers. */
const OTHER_IN_WEB = WEB.filter(({ name, web }) => web !== name)

/** Conditions of runtimes that load what browsers load. */
const BROWSERS = ['workerd', 'edge-light', 'worker', 'browser', 'react-native']

function conditions({ name, web, isFunction }) {
  if (isFunction) return `./dist/${name}.cjs`
  const node = { import: `./dist/${name}.mjs`, default: `./dist/${name}.cjs` }
  if (web === undefined) return node
  const [module, common] = [`./dist/web/${name}.js`, `./dist/web/${name}.cjs`]
  if (web === name) return { node, import: module, default: node.default }
  const inBrowsers = BROWSERS.map((condition) => [condition, { require: common, default: module }])
  return { node, ...Object.fromEntries(inBrowsers), ...node }
}

/** The main entry without its browser form, for tools that choose the wrong one. */
const WITH_ADDON = 'with-addon'

/** `exports` of package.json. */
function exportsOf() {
  const [main, ...others] = ENTRIES
  const last = others.at(-1)
  const named = (each) => [`./${each.name}`, conditions(each)]
  return {
    '.': conditions(main),
    ...Object.fromEntries(others.slice(0, -1).map(named)),
    [`./${WITH_ADDON}`]: conditions({ name: main.name }),
    ...Object.fromEntries([named(last)]),
    './package.json': './package.json',
  }
}

/** The types of each entry, at the top. scripts/declarations.js writes them. */
const TYPES = ENTRIES.map(({ name }) => `${name}.d.ts`)

/** `typesVersions` of package.json, for TypeScript that does not read `exports`: it finds the others by their names. */
const typesVersions = () => ({ '*': { [WITH_ADDON]: [`./${TYPES[0]}`] } })

/** `files` of package.json. */
const files = () => [...TYPES, 'dist', 'bin/completion']

module.exports = { ENTRIES, exportsOf, files, IMPORTED, OTHER_IN_WEB, TYPES, typesVersions, WEB }

if (require.main === module) {
  const manifest = JSON.parse(fs.readFileSync(MANIFEST, 'utf8'))
  const made = { ...manifest, types: TYPES[0], typesVersions: typesVersions(), exports: exportsOf(), files: files() }
  fs.writeFileSync(MANIFEST, `${JSON.stringify(made, null, 2)}\n`)
}
