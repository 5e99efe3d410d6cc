'use strict'

// The types of the package, out of lib/entries/: one file for each entry at the top of the repository. They are tracked, so
// that a review shows every change of the interface. tsc writes the declarations of all files, and a plugin of rolldown
// puts those of an entry together, without what no user can reach. In dist/, beside each file that users load, a line
// passes them on: TypeScript looks for types there.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { IMPORTED, OTHER_IN_WEB, WEB } = require('./entries.js')

const ROOT = path.join(__dirname, '..')
const MADE = path.join(ROOT, 'target', 'declarations')
const TSC = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const FLAGS = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--stripInternal', '--rootDir', ROOT]

/** Classes that the main entry shares with another stand in the other's file, because a second declaration is another class. */
const OF_LEASE = /\/leased-flake-id\.d\.ts$/
const OF_CODEC = /\/codec\/layout\.ts$/
const fromCodec = {
  name: 'from-codec',
  resolveId: (id) => (OF_CODEC.test(id) ? { id: './codec.js', external: true } : null),
}

/** The types of generators for Node.js: what LeasedFlakeId needs of others is in index.d.ts, and it is in lease.d.ts. */
const WITH_NODE = { first: ['index', 'lease'], others: ['metrics', 'biguint-format'], plugins: [fromCodec] }
/** These may not need the types of Node.js, so what they share with the main entry is in both files. */
const WITHOUT_NODE = {
  first: ['codec', 'remote'],
  others: OTHER_IN_WEB.map(({ name }) => `dist/web/${name}`),
  plugins: [],
}

/** In lib/entries/. */
const entryOf = (name) => {
  const web = OTHER_IN_WEB.find((entry) => name === `dist/web/${entry.name}`)
  return web === undefined ? name : web.web
}

/** What a file needs that a project may not have by itself. */
function needs(code) {
  const words = code.replace(/\/\*[\s\S]*?\*\//g, '')
  return [
    ...(/\b(?:Buffer\b(?!:)|NodeJS\.)/.test(words) ? ['/// <reference types="node" />\n'] : []),
    ...(words.includes('Symbol.asyncDispose') ? ['/// <reference lib="esnext.disposable" />\n'] : []),
  ].join('')
}

/** The files of an entry, by their declarations. */
async function bundle(names, plugins, codeSplitting) {
  const { build } = await import('rolldown')
  const { dts } = await import('rolldown-plugin-dts')
  const { output } = await build({
    input: Object.fromEntries(names.map((name) => [name, path.join(MADE, 'lib', 'entries', `${entryOf(name)}.d.ts`)])),
    write: false,
    plugins: [...plugins, dts({ dtsInput: true, emitDtsOnly: true })],
    preserveEntrySignatures: 'allow-extension',
    output: { dir: ROOT, format: 'es', entryFileNames: '[name].ts', minifyInternalExports: false, codeSplitting },
    checks: { pluginTimings: false },
  })
  return output
}

const modulesOf = (output) => output.flatMap(({ modules }) => Object.keys(modules))

/** The exports of a file, from its last statement. */
function exportsIn(code) {
  const [, list] = /^export \{ (.*) \};?\s*$/m.exec(code)
  return list.split(', ').map((each) => each.replace('type ', ''))
}

const nameOf = (exported) => exported.split(' as ').at(-1)

/** The names that a file imports from each other file. */
function importsIn(code) {
  return [...code.matchAll(/^import \{ (.*) \} from "(.*)\.js";$/gm)].map(([, list, file]) => ({
    names: list.split(', ').map((each) => each.split(' as ')[0]),
    file,
  }))
}

const inLines = (names, indent = '') => names.map((name) => `${indent}  ${name},\n`).join('')

/** An import by the name that users have for it: `X$1 as X` and `X$1` mean the export X. */
const publicly = (each) => each.replace(/^(\w+)\$1 as \1$/, '$1').replace(/^(\w+)\$1$/, '$1 as $1$$1')

/** A CommonJS module that is a class or function, with the other exports as properties. */
function asProperties(name, exported) {
  const inside = exported.filter((each) => each !== 'format as default')
  return `declare namespace ${name} {\n  export {\n${inLines(inside, '  ')}  }\n}\nexport = ${name};\n`
}

const FUNCTIONS = { index: 'FlakeId', 'biguint-format': 'format' }

/** A file as users read it. */
function finished(name, { chunk, names }) {
  const exported = exportsIn(chunk.code).filter((each) => names.includes(nameOf(each)))
  const imports = chunk.code.match(/^import .*$/gm)?.join('\n') ?? ''
  const twice = [...imports.matchAll(/\b(\w+), \1 as (\1\$1)(?=[, ])/g)]
  const code = twice
    .reduce((text, [, one, other]) => text.replace(`, ${one} as ${other}`, '').replaceAll(other, one), chunk.code)
    .replace(/^\/\/ target\/declarations\/.*\n/gm, '')
    .replace(/^import \{ (.*) \} from/gm, (_, list) => `import {\n${inLines(list.split(', ').map(publicly))}} from`)
  const last = FUNCTIONS[name] ? asProperties(FUNCTIONS[name], exported) : `export {\n${inLines(exported)}};\n`
  const text = code.replace(/^export \{ .* \};?\s*$/m, () => last)
  return `// Written by \`npm run dist\` from lib/entries/${entryOf(name)}.ts.\n\n${needs(text)}${text}`
}

/** Every name that a file takes from another is one that the other's users have too. */
function check(files) {
  for (const [name, { chunk }] of files)
    for (const { names, file } of importsIn(chunk.code)) {
      const other = path.posix.join(path.posix.dirname(name), file)
      const known = files.get(other).names
      const missing = names.map((each) => each.replace(/\$1$/, '')).filter((each) => !known.includes(each))
      if (missing.length > 0) throw new Error(`${name} needs ${missing.join(', ')}: export it from the entry ${other}`)
    }
}

/** The files that one build makes, with their paths, which have no ending, and what their users can import. */
async function family({ first: [lower, upper], others, plugins }) {
  const entries = [lower, upper, ...others]
  const alone = new Map()
  for (const name of entries) alone.set(name, await bundle([name], plugins))
  const [own, ofUpper] = [lower, upper].map((name) => new Set(modulesOf(alone.get(name))))
  const groups = [
    { name: lower, test: (id) => own.has(id) && !OF_LEASE.test(id) },
    { name: upper, test: (id) => ofUpper.has(id) },
  ]
  const output = await bundle(entries, plugins, { includeDependenciesRecursively: false, groups })
  return output.map((chunk) => {
    const name = chunk.fileName.replace(/\.d\.ts$/, '')
    // In the build of all, a file also exports what only others need.
    return [name, { chunk, names: exportsIn(alone.get(name)[0].code).map(nameOf) }]
  })
}

/**
 * lib/entries/main.ts adds a function to the class FlakeId, which is in a lower room. The bundler would keep the name of that
 * file, so the function is made a part of the class.
 */
function putJoinIntoClass() {
  const [from, into] = ['entries/main', 'generator/flake-id'].map((name) => path.join(MADE, 'lib', `${name}.d.ts`))
  const text = fs.readFileSync(from, 'utf8')
  const [addition, functions] = /^declare module .*\n {4}namespace FlakeId \{\n([\s\S]*?)^ {4}\}\n\}\n/m.exec(text)
  const imports = text.match(/^import type .*\n/gm).join('') // both files are in folders of lib/, so the paths are the same
  const known = fs
    .readFileSync(into, 'utf8')
    .replace('import type { AnyLayout, Unspecified }', 'import type { Unspecified }')
  const [head] = /^export declare class FlakeId<.*\{\n/m.exec(known)
  const members = functions.replace(/^ {8}function /gm, '        static ')
  fs.writeFileSync(from, text.replace(addition, ''))
  fs.writeFileSync(into, imports + known.replace(head, head + members))
}

/** The types of all entries: by file, what users of that file can import, and its text. */
async function makeDeclarations() {
  fs.rmSync(MADE, { recursive: true, force: true })
  execFileSync(process.execPath, [TSC, '-p', ROOT, ...FLAGS, '--outDir', MADE], { cwd: ROOT, stdio: 'inherit' })
  putJoinIntoClass()
  fs.mkdirSync(path.join(MADE, 'src'), { recursive: true })
  fs.copyFileSync(path.join(ROOT, 'src', 'native.d.ts'), path.join(MADE, 'src', 'native.d.ts'))
  const files = new Map([...(await family(WITH_NODE)), ...(await family(WITHOUT_NODE))])
  check(files)
  return [...files].map(([name, file]) => ({ name, names: file.names, text: finished(name, file) }))
}

/** A module with a default export and all others by name. */
const named = (names, from) =>
  `export {\n${inLines(names.map((name) => (name === 'default' ? 'FlakeId as default' : name)))}} from '${from}'\n`

/** What stands beside the files that users load, by their path in dist/. */
function besideCode(made) {
  const names = made.find(({ name }) => name === 'index').names
  const others = IMPORTED.filter((name) => name !== 'index')
  const beside = {
    'index.d.mts': named(names, '../index.js'),
    ...Object.fromEntries(
      others.flatMap((name) => ['mts', 'cts'].map((kind) => [`${name}.d.${kind}`, `export * from '../${name}.js'\n`])),
    ),
    ...Object.fromEntries(
      Object.entries(FUNCTIONS).map(([entry, name]) => [
        `${entry}.d.cts`,
        `import ${name} = require('../${entry}.js')\nexport = ${name}\n`,
      ]),
    ),
  }
  for (const { name, web } of WEB) {
    const from = name === web ? `../../${name}.js` : `./${name}.cjs`
    const byDefault = name === 'index' ? `export { FlakeId as default } from '${from}'\n` : ''
    beside[`web/${name}.d.ts`] = `export * from '${from}'\n${byDefault}`
  }
  return beside
}

/** Writes the types of all entries. A file that has not changed keeps its time. */
async function writeDeclarations() {
  const made = await makeDeclarations()
  for (const { name, text } of made) write(`${name}.d.${name.startsWith('dist/') ? 'cts' : 'ts'}`, text)
  for (const [file, text] of Object.entries(besideCode(made))) write(`dist/${file}`, text)
}

function write(file, text) {
  const place = path.join(ROOT, file)
  if (fs.existsSync(place) && fs.readFileSync(place, 'utf8') === text) return
  fs.writeFileSync(place, text)
}

module.exports = { makeDeclarations, writeDeclarations }
