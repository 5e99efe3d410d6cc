'use strict'

// The kinds of TypeScript project that flakeforge has to work in, and which of the files next to this one each
// compiles. Used by types.test.mjs, with the TypeScript of this repository, and by lab/consumers/typescript, with
// several.

const fs = require('node:fs')
const path = require('node:path')
const mistakes = require('./mistakes.cjs')

const ES_AND_COMMONJS = ['mts', 'cts']
const WHATEVER_THE_PROJECT_IS = ['ts']

const KINDS = {
  nodenext: { extensions: ES_AND_COMMONJS, options: { module: 'nodenext', moduleResolution: 'nodenext' } },
  node16: { extensions: ES_AND_COMMONJS, options: { module: 'node16', moduleResolution: 'node16' } },
  bundler: { extensions: WHATEVER_THE_PROJECT_IS, options: { module: 'esnext', moduleResolution: 'bundler' } },
  commonjs: { extensions: WHATEVER_THE_PROJECT_IS, options: { module: 'commonjs', moduleResolution: 'node10' } },
}

const STRICT = {
  target: 'es2022',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  noEmitOnError: false,
}

/**
 * Files that are also run. They print that they are right. The result of require() has another type where it is the
 * export itself.
 */
const RUN = ['consumer.mts', 'consumer.cts', 'codec.mts', 'metrics.mts', 'biguint-format.mts', 'biguint-format.cts']

/** An ES module and a CommonJS one in one program. */
const TOGETHER = ['both.mts', 'takes.cts']

/** Files with the same meaning in every kind of module. */
const ANYWHERE = ['plain', 'strict', 'remote', 'declarations', 'declarations-user']

const read = (name) => fs.readFileSync(path.join(__dirname, name), 'utf8')

/** A text as a file of that extension: the files that it imports get a matching one. */
const adapt = (text, extension) => text.replaceAll(/(from '\.\/[\w-]+)\.js'/g, `$1.${extension.replace('ts', 'js')}'`)

/** Everything that must compile in a kind of project, by file name. */
function consumers(kind) {
  const { extensions } = KINDS[kind]
  const files = {}
  for (const extension of extensions) {
    for (const name of ANYWHERE) files[`${name}.${extension}`] = adapt(read(`${name}.ts`), extension)
  }
  if (extensions === ES_AND_COMMONJS) for (const name of [...RUN, ...TOGETHER]) files[name] = read(name)
  return files
}

/** Everything that must not compile, by file name. */
function mistakesFor(kind) {
  const [extension] = KINDS[kind].extensions
  return Object.fromEntries(Object.entries(mistakes.files).map(([name, text]) => [`${name}.${extension}`, text]))
}

/** Writes files into a new folder, with a tsconfig.json that compiles them. */
function writeProject(folder, sources, options) {
  fs.mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(sources)) fs.writeFileSync(path.join(folder, name), text)
  const config = { compilerOptions: { ...STRICT, ...options }, files: Object.keys(sources) }
  fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
}

/**
 * Writes a project of the consumers, declarations and all, in which flakeforge's own types are checked too; and next to
 * it one of the mistakes.
 * @param {object} more compiler options on top
 * @returns {string[]} the two folders
 */
function writeProjects(folder, kind, more = {}) {
  const [right, wrong] = [path.join(folder, kind), path.join(folder, `${kind}-mistakes`)]
  const options = { ...KINDS[kind].options, ...more }
  writeProject(right, consumers(kind), { ...options, declaration: true, skipLibCheck: false })
  writeProject(wrong, mistakesFor(kind), { ...options, noEmit: true, skipLibCheck: true })
  return [right, wrong]
}

module.exports = { KINDS, RUN, STRICT, writeProject, writeProjects, unexpected: mistakes.unexpected }
