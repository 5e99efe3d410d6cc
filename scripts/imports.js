'use strict'

// What our TypeScript files import: at runtime, where types do not count because they are erased, and in all.

const fs = require('node:fs')
const path = require('node:path')

const AT_ONCE = /^(?:import|export) (?!type\b)(?:[^'";]*? from )?'([^']+)'/gm
const WITH_TYPES = /^(?:import|export) (?:[^'";]*? from )?'([^']+)'/gm
const LATER = /\bimport\('([^']+)'\)/g

const named = (file, pattern) => Array.from(fs.readFileSync(file, 'utf8').matchAll(pattern), ([, name]) => name)

/** The names that it imports, as they are written there. */
const importsOf = (file) => [...named(file, AT_ONCE), ...named(file, LATER)]

/** Our own files among some names, as full paths. */
const ours = (file, names) =>
  names
    .filter((name) => name.startsWith('.') && /(?<!\.d)\.ts$/.test(name))
    .map((name) => path.resolve(path.dirname(file), name))

/** Our own files that it imports. */
const filesOf = (file) => ours(file, importsOf(file))

/** The same, with those of which it needs only types. */
const allFilesOf = (file) => ours(file, [...named(file, WITH_TYPES), ...named(file, LATER)])

/** The files that are loaded with a file, including itself. */
function reached(file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  for (const other of ours(file, named(file, AT_ONCE))) reached(other, found)
  return found
}

/** All TypeScript files in a folder. */
const sourcesIn = (folder) =>
  fs
    .readdirSync(folder, { recursive: true })
    .filter((name) => /(?<!\.d)\.ts$/.test(name))
    .map((name) => path.join(folder, name))

module.exports = { allFilesOf, filesOf, importsOf, reached, sourcesIn }
