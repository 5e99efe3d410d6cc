'use strict'

// `npm run dist` writes dist/ from lib/ and bin/: for Node.js as CommonJS (.cjs), with ES modules (.mjs) that re-export
// it, for browsers as ES modules (web/). dist-packages.js writes the dist/ of each package in packages/. target/rooms/
// also gets each of these files as CommonJS, for tests of rooms. It does nothing where nothing has changed. dist/ is
// not in git; the packages have it. It also writes the types at the top of the repository, which are in git.

const fs = require('node:fs')
const path = require('node:path')
const { filesOf, hash } = require('./built.js')
const { writeDeclarations } = require('./declarations.js')
const { sourcesIn } = require('./imports.js')
const packages = require('./dist-packages.js')
const { IMPORTED, TYPES, WEB } = require('./entries.js')
const { calledFor, entry, INPUTS, lib, PARTS, partInputs, parts } = require('./dist-parts.js')
const { GUARD, guardOfCommand } = require('./outdated-node.js')
const { version } = require('../package.json')

const ROOT = path.join(__dirname, '..')
const DIST = path.join(ROOT, 'dist')
const ROOMS = path.join(ROOT, 'target', 'rooms')
const STAMP = path.join(ROOT, 'target', 'dist.json')

/** All inputs. */
const SOURCES = [
  'tsconfig.json',
  'lib',
  'bin',
  'package.json',
  'package-lock.json',
  'src/native.d.ts',
  'scripts/declarations.js',
  'scripts/dist.js',
  'scripts/dist-packages.js',
  'scripts/dist-parts.js',
  'scripts/entries.js',
  'scripts/imports.js',
  'scripts/outdated-node.js',
  ...packages.SOURCES,
]

/**
 * The parts of the command: the one that reports errors loads nothing else, and only `with-addon.ts` needs the addon.
 */
const COMMAND = [
  { name: 'faults', test: /\/bin\/parts\/(?:faults|output)\.ts$|\/package\.json$/ },
  { name: 'command', test: /\/bin\/(?!flakeforge|main|with-addon)/ },
]

/** Modules do nothing when they are loaded, unless their exports are used. */
const treeshake = { moduleSideEffects: (id) => /\/(?:entries|bin)\//.test(id) }
const node = {
  platform: 'node',
  external: ['#packages'],
  preserveEntrySignatures: 'allow-extension',
  treeshake,
  transform: { define: { FLAKEFORGE_VERSION: JSON.stringify(version) } },
}

/** Comments are for the sources. Lines stay unchanged: an uncaught error prints the whole line. */
const output = (ext, more) => ({
  dir: DIST,
  entryFileNames: `[name].${ext}`,
  chunkFileNames: `[name].${ext}`,
  comments: { legal: false, jsdoc: false, annotation: true },
  minifyInternalExports: false,
  ...more,
})

/** Node.js decodes a pure ASCII file in a third of the time. */
const ascii = {
  name: 'ascii',
  generateBundle(_, bundle) {
    const escaped = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
    for (const file of Object.values(bundle)) {
      const text = file.type === 'chunk' ? 'code' : 'source'
      file[text] = file[text].replace(/[^\0-\x7f]/g, escaped)
    }
  },
}

/**
 * Code that returns a module as an object must not read properties that a program has put on Object.prototype: it would
 * treat them as exports.
 */
const ownExports = {
  name: 'own-exports',
  renderChunk: (code) => code.replace(/for \(var name in all\)/g, 'for (const name of Object.keys(all))'),
}

/** An outdated Node.js gets a sentence from every file that users load or start. */
const needsNode = {
  name: 'needs-node',
  renderChunk(code, { name, isEntry }) {
    if (!isEntry || PARTS.includes(name) || name.startsWith('web/') || name === 'join') return
    const [start] = /^(?:#!.*\n)?"use strict";\n/.exec(code)
    return start + (name === 'flakeforge' ? guardOfCommand(name) : GUARD) + code.slice(start.length)
  },
}

/**
 * A process may load the package more than once: test runners forget loaded modules, and packages have their own
 * copies. The exports of a part are created once for each version, so that an object of one copy is an object of the
 * others.
 */
const KEY = `Symbol.for("flakeforge@${version}")`
const NEW = `Object.defineProperty(globalThis, ${KEY}, { __proto__: null, value: { __proto__: null } })[${KEY}]`
const once = {
  intro: ({ name }) =>
    PARTS.includes(name) ? `module.exports = ((globalThis[${KEY}] ?? ${NEW})["${name}"] ??= ((exports) => {` : '',
  outro: ({ name }) => (PARTS.includes(name) ? `return exports;\n})({}));` : ''),
}

/** `require('flakeforge')` is the class alone. */
const classAlone = {
  name: 'class-alone',
  generateBundle() {
    const source = `"use strict";\n${GUARD}const all = require("./core.cjs");\nmodule.exports = all.default;\n`
    this.emitFile({ type: 'asset', fileName: 'index.cjs', source })
  },
}

/** `require('flakeforge')` is the class with all exports as properties where there is no addon, too. */
const classOfPages = {
  name: 'class-of-pages',
  generateBundle(_, bundle) {
    bundle['web/index.cjs'].code += 'module.exports = Object.assign(exports.FlakeId, exports);\n'
  },
}

/** An entry as an ES module: the exports of a file for `require`, by name. */
function esModule(file, exports) {
  const named = exports.filter((each) => each !== 'default').sort()
  const byDefault = exports.includes('default') ? 'export default all;\n' : ''
  return `import all from "./${file}";\n${byDefault}export const { ${named.join(', ')} } = all;\n`
}

/**
 * Before Node.js passes a CommonJS file to an ES module, it searches the text for exports, and re-exported files too;
 * Node.js 20 takes 40 ms for core.cjs. So the imported file is short, and re-exports by `const`.
 */
const esModules = {
  name: 'es-modules',
  generateBundle() {
    const emit = (fileName, source) => this.emitFile({ type: 'asset', fileName, source })
    for (const name of IMPORTED) {
      const { exports } = this.getModuleInfo(entry(name))
      emit(`${name}.mjs`, esModule(`${name}.cjs`, exports))
    }
  },
}

/** The part of package.json that the command shows. */
const manifest = {
  name: 'manifest',
  load: {
    filter: { id: /\/package\.json$/ },
    handler: (id) => {
      const { version, bugs } = require(id)
      return { code: JSON.stringify({ version, bugs }), moduleType: 'json' }
    },
  },
}

const cjs = (parts) => ({
  ...node,
  input: { ...INPUTS, flakeforge: path.join(ROOT, 'bin', 'flakeforge.ts') },
  plugins: [partInputs, ascii, ownExports, calledFor, needsNode, classAlone, classOfPages, esModules, manifest],
  output: output('cjs', {
    format: 'cjs',
    exports: 'auto',
    dynamicImportInCjs: false,
    externalLiveBindings: false,
    strict: true,
    ...once,
    codeSplitting: { includeDependenciesRecursively: false, groups: [...parts, ...COMMAND] },
  }),
})

/** Replaces one module with another. */
const instead = (places) => ({
  name: 'instead',
  resolveId: (id, importer) => importer && places[path.resolve(path.dirname(importer), id)],
})

const shortened = (name) => [lib(`base/errors/${name}.ts`), lib(`base/errors/${name}-short.ts`)]

/**
 * A file for each module, so that pages load only what they import. Errors have their short texts, where they are
 * thrown.
 */
const web = () => ({
  optimization: { inlineConst: true },
  treeshake,
  platform: 'browser',
  input: Object.fromEntries(WEB.map(({ name, web }) => [name, entry(web)])),
  plugins: [instead(Object.fromEntries(['values', 'wanted'].map(shortened)))],
  output: output('js', {
    format: 'es',
    dir: path.join(DIST, 'web'),
    preserveModules: true,
    preserveModulesRoot: lib(''),
  }),
})

/** Tests of rooms look for the addon as seen from dist/. */
const fromDist = {
  name: 'from-dist',
  transform: {
    filter: { id: /\/native\/packages\/search\.ts$/ },
    handler: (code) =>
      code.replace(/const ownFile = .*/, "const ownFile = join(__dirname, '../../../../../dist/index.cjs')"),
  },
}

const rooms = () => ({
  ...node,
  treeshake: false,
  input: ['lib', 'bin'].flatMap((folder) => sourcesIn(path.join(ROOT, folder))),
  plugins: [fromDist],
  output: output('js', {
    dir: ROOMS,
    format: 'cjs',
    exports: 'auto',
    dynamicImportInCjs: false,
    preserveModules: true,
    preserveModulesRoot: ROOT,
  }),
})

const hashOf = (names) => hash(names.flatMap(filesOf), [])
const sameAs = (last, sources) => last?.sources === sources && last.types === hashOf(TYPES)

function lastBuild() {
  try {
    return (
      [DIST, ROOMS, ...packages.DISTS].every((folder) => fs.existsSync(folder)) &&
      JSON.parse(fs.readFileSync(STAMP, 'utf8'))
    )
  } catch {
    return undefined
  }
}

async function buildDist() {
  const sources = hashOf(SOURCES)
  if (sameAs(lastBuild(), sources)) return
  const { build } = await import('rolldown')
  for (const folder of [DIST, ROOMS, ...packages.DISTS]) fs.rmSync(folder, { recursive: true, force: true })
  const groups = await parts(node)
  const configs = [cjs(groups), web(), rooms(), ...packages.packageConfigs(ROOMS)]
  for (const config of configs) await build({ ...config, checks: { mixedExports: false } })
  fs.writeFileSync(path.join(DIST, 'web', 'package.json'), '{ "type": "module", "sideEffects": false }\n')
  for (const file of ['traced.cjs', 'bundled.mjs'])
    fs.copyFileSync(lib(`native/packages/${file}`), path.join(DIST, file))
  await writeDeclarations()
  fs.mkdirSync(path.dirname(STAMP), { recursive: true })
  fs.writeFileSync(STAMP, JSON.stringify({ sources, types: hashOf(TYPES) }))
}

module.exports = { buildDist }

if (require.main === module) buildDist()
