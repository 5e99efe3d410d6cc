'use strict'

// What dist/ is divided into: entries, which users load, and parts, which have what the entries are made of.

const path = require('node:path')
const { ENTRIES, OTHER_IN_WEB } = require('./entries.js')
const { reached } = require('./imports.js')

const ROOT = path.join(__dirname, '..')
const lib = (file) => path.join(ROOT, 'lib', file)
const entry = (name) => lib(`entries/${name}.ts`)

/** What `flakeforge schema` loads. */
const SCHEMA = path.join(ROOT, 'bin', 'schema', 'print-schema.ts')

/** The files that the entries take from. The first ID needs `base` and `core` alone. */
const PARTS = ['base', 'base-later', 'core', 'core-later', 'client', 'sql', 'leases', 'meters']

/**
 * Files of `base` and `core` that programs need seldom: the texts of errors about their input, and what reads unusual input. They
 * are in parts of their own, which a call of one of their functions loads. No other file may use them while it is loaded. What a
 * valid call of a running program needs is not among them, since no file may be left to open then.
 */
const LATER = [
  'base/errors/foreign.ts',
  'base/errors/json.ts',
  'base/errors/sources.ts',
  'base/errors/values.ts',
  'base/errors/wanted.ts',
  'base/nearest.ts',
  'layout/ignored-variables.ts',
  'layout/seal-input.ts',
].map(lib)

/** A part that is loaded later is a function, whose first call loads it, where the others are objects. */
const calledFor = {
  name: 'called-for',
  renderChunk: (code) =>
    code
      .replace(
        /^(\s*)const (require_\w+_later) = (require\("[^"]+"\));$/gm,
        '$1let $2_loaded;\n$1const $2 = () => $2_loaded ??= $3;',
      )
      .replace(/\bnew (require_\w+_later)\.(\w+)/g, 'new ($1().$2)')
      .replace(/\b(require_\w+_later)\./g, '$1().'),
}

/**
 * Each part is an input, empty if nothing else is one. What an input exports is an ordinary property; of any other file it is a
 * getter, and these take the first ID 1.5 ms.
 */
const PART_INPUTS = { ...Object.fromEntries(PARTS.map((name) => [name, `\0part-${name}`])), core: entry('index') }
const EMPTY = Object.values(PART_INPUTS).filter((id) => id.startsWith('\0'))
const partInputs = {
  name: 'part-inputs',
  resolveId: (id) => (EMPTY.includes(id) ? id : undefined),
  load: (id) => (EMPTY.includes(id) ? 'export {}' : undefined),
}

/** What `require` and the program load: the files of lib/ by the names that they have in dist/. */
const INPUTS = {
  ...Object.fromEntries(ENTRIES.slice(1).map(({ name }) => [name, entry(name)])), // the first one is the part `core`
  join: lib('lease/join.ts'), // what the first FlakeId.join() loads
  ...PART_INPUTS,
  // What browsers load, for tools that load it by `require`, such as jest with jsdom. It has the classes of the other entries.
  ...Object.fromEntries(OTHER_IN_WEB.map(({ name, web }) => [`web/${name}`, entry(web)])),
}

/** The files of lib/ whose code is loaded with a file, and itself: not those that only pass something on. */
async function loadedWith(file, options) {
  const { build } = await import('rolldown')
  const later = { name: 'later', resolveDynamicImport: (id) => ({ id, external: true }) }
  const { output } = await build({ ...options, input: file, plugins: [later], write: false })
  const modules = output.flatMap(({ modules = {} }) => Object.entries(modules))
  return modules.filter(([id, { renderedLength }]) => id === file || renderedLength > 0).map(([id]) => id)
}

/**
 * How the files of lib/ are put together. `codec`, `remote`, `flakeforge schema` and what browsers load may not load the addon,
 * so what they have in common with the main entry is a part of its own, and so is the SQL of the stores.
 * @param {object} options of rolldown, as dist/ is built with them
 */
async function parts(options) {
  const files = [...['codec', 'index', 'remote', 'lease', 'metrics', 'browser'].map(entry), SCHEMA]
  const [codec, main, remote, lease, metrics, browser, schema] = await Promise.all(
    files.map((file) => loadedWith(file, options)),
  )
  const places = new Map()
  const names = new Set(Object.values(INPUTS))
  const put = (name, files) => {
    for (const file of files) if (!places.has(file) && !names.has(file)) places.set(file, name)
  }
  put('base', [
    ...codec,
    ...main.filter((file) => remote.includes(file) || schema.includes(file)),
    ...browser.filter((file) => !remote.includes(file)),
  ])
  put('core', main)
  put('client', remote)
  put(
    'sql',
    [...reached(SCHEMA)].filter((file) => file.startsWith(lib(''))),
  )
  put('leases', [...lease, ...(await loadedWith(lib('lease/join.ts'), options))])
  put('meters', metrics)
  for (const file of LATER) places.set(file, `${places.get(file)}-later`)
  for (const [name, id] of Object.entries(PART_INPUTS)) places.set(id, name)
  return PARTS.map((name) => ({ name, test: (id) => places.get(id) === name }))
}

module.exports = { calledFor, entry, INPUTS, lib, PARTS, partInputs, parts }
