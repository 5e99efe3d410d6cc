'use strict'

// The output of scripts/dist.js for the packages in packages/: the program of each as ES modules in its own dist/, and
// each file of it as CommonJS in target/rooms/, for tests of rooms. What packages/shared.ts takes from lib/ is bundled; imports by
// a package's name are resolved where they are installed.

const path = require('node:path')
const { sourcesIn } = require('./imports.js')
const { guardOfCommand } = require('./outdated-node.js')

const ROOT = path.join(__dirname, '..')

/** The files that are started, or forked, by their names in dist/. */
const PROGRAMS = {
  server: { 'flakeforge-server': 'bin/flakeforge-server.ts' },
  'check-store': { 'flakeforge-check-store': 'bin/flakeforge-check-store.ts', child: 'lib/child.ts' },
}

const NAMES = Object.keys(PROGRAMS)
const inPackage = (name, ...parts) => path.join(ROOT, 'packages', name, ...parts)
const distOf = (name) => inPackage(name, 'dist')

const node = {
  platform: 'node',
  external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
}

/** Comments are for the sources. */
const comments = { legal: false, jsdoc: false, annotation: true }

const program = (name) => ({
  ...node,
  plugins: [needsNode(name)],
  input: Object.fromEntries(Object.entries(PROGRAMS[name]).map(([to, from]) => [to, inPackage(name, from)])),
  output: {
    dir: distOf(name),
    format: 'es',
    comments,
    minifyInternalExports: false,
    entryFileNames: ({ name }) => (isCommand(name) ? 'program.mjs' : '[name].mjs'),
    chunkFileNames: '[name].mjs',
    codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
  },
})

const isCommand = (name) => name.startsWith('flakeforge-')

/** The command itself is in program.mjs, which an outdated Node.js could not read. */
const needsNode = (name) => ({
  name: 'needs-node',
  generateBundle() {
    const [command] = Object.keys(PROGRAMS[name]).filter(isCommand)
    const source = `#!/usr/bin/env node\n${guardOfCommand(command)}import('./program.mjs')\n`
    this.emitFile({ type: 'asset', fileName: `${command}.mjs`, source })
  },
})

/** Files of lib/ are there already, with all their exports. */
const ownOnly = {
  name: 'own-only',
  generateBundle(_, bundle) {
    for (const file of Object.keys(bundle)) if (file.startsWith('lib/')) delete bundle[file]
  },
}

/** The page of the server, and the child of the checks, are found from dist/. */
const rooms = (name, dir) => ({
  ...node,
  transform: { define: { 'import.meta.dirname': JSON.stringify(distOf(name)) } },
  treeshake: false,
  plugins: [ownOnly],
  input: ['lib', 'bin'].flatMap((folder) => sourcesIn(inPackage(name, folder))),
  output: {
    dir,
    format: 'cjs',
    comments,
    exports: 'auto',
    dynamicImportInCjs: false,
    preserveModules: true,
    preserveModulesRoot: ROOT,
    entryFileNames: '[name].js',
    virtualDirname: `packages/${name}/_virtual`, // not the helpers of lib/, which has others
  },
})

module.exports = {
  /** The folders that are written here, and their inputs. */
  DISTS: NAMES.map(distOf),
  SOURCES: [
    'packages/shared.ts',
    ...NAMES.flatMap((name) => ['lib', 'bin', 'package.json'].map((part) => `packages/${name}/${part}`)),
  ],
  /** What rolldown builds. */
  packageConfigs: (roomsFolder) => NAMES.flatMap((name) => [program(name), rooms(name, roomsFolder)]),
}
