'use strict'

// `node scripts/platforms/lists.js` writes the lists of platforms that other tools read, from targets.js, and the table of results,
// each between what a file says before and after it. The packages of npm/ are written by scripts/npm-dirs.js, from the list in package.json. No
// tool can take over the packages of the WebAssembly, or the machines on which ci.yml runs the tests.

const fs = require('node:fs')
const path = require('node:path')
const { readResults, tableOf } = require('./results-table.js')
const { BINARIES, PACKAGED } = require('./targets.js')

const ROOT = path.join(__dirname, '..', '..')

/** Packages that bring the WebAssembly to other platforms. */
const SELECTORS = ['other-cpu', 'other-os']

const isMusl = ({ name }) => name.endsWith('-musl')

/** '11.0' is macOS 11. */
const macOf = ({ macos }) => `macOS ${macos.replace(/\.0$/, '')} or newer`

/** The system in the documentation. */
function systemOf(target) {
  if (target.build === 'wasm') return 'all others'
  if (target.glibc) return `Linux, glibc ${target.glibc} or newer`
  if (isMusl(target)) return 'Linux, musl (Alpine)'
  if (target.macos) return macOf(target)
  return target.name.includes('arm64') ? 'Windows 11' : 'Windows 10 or newer'
}

/** The system in messages, which group what they list. */
function groupOf(target) {
  if (target.glibc) return `Linux with glibc ${target.glibc} or newer`
  if (isMusl(target)) return 'Linux with musl'
  return target.macos ? 'macOS' : 'Windows'
}

const LINKERS = { wasm: 'Clang', check: "Microsoft's linker", zig: 'Zig' }
const linkerOf = (target) => (target.macos ? "Apple's linker" : LINKERS[target.build])

const HOSTS = { linux: 'ubuntu-latest', darwin: 'macos-latest', win32: 'windows-latest' }

function jobOf({ name, triple }) {
  const [system] = name.split('-')
  const build = system === 'linux' ? 'scripts/portable-build.sh' : 'npm run build -- --target'
  const lines = [`- target: ${triple}`, `  host: ${HOSTS[system]}`, `  build: ${build}`]
  return lines.map((line) => `          ${line}\n`).join('')
}

/** Where ci.yml takes the digests of a build. */
const outputOf = ({ triple }) => `      ${triple}: \${{ steps.digests.outputs.${triple} }}\n`

const caseOf = (name) => `      case '${name}':\n        return require('@flakeforge/binding-${name}')\n`

/** The groups of messages: those of glibc from the oldest on, then as in the table. */
function groups() {
  const all = new Map()
  for (const target of BINARIES) all.set(groupOf(target), [...(all.get(groupOf(target)) ?? []), target.name])
  const version = (group) => Number(/glibc 2\.(\d+)/.exec(group)?.[1] ?? 99)
  return [...all].sort(([a], [b]) => version(a) - version(b))
}

const asCode = (value) => JSON.stringify(value).replaceAll('"', "'").replaceAll(',', ', ')
const groupAsCode = (group) => `  ${asCode(group)},\n`

function rowOf(target) {
  const { name, cpu, before, weekly } = target
  return `| \`@flakeforge/binding-${name}\` | ${systemOf(target)} | ${cpu} | ${linkerOf(target)} | ${before} | ${weekly} |\n`
}

/** [file, what the list comes after, the list, what comes after it] */
const LISTS = [
  ['package.json', '    "targets": [\n', BINARIES.map(({ triple }) => `      "${triple}"`).join(',\n'), '\n    ]'],
  [
    '.github/workflows/ci.yml',
    'node scripts/platforms/lists.js writes these outputs. Those of a matrix are combined, so each needs its own name.\n',
    BINARIES.map(outputOf).join(''),
    '    env:\n',
  ],
  [
    '.github/workflows/ci.yml',
    'node scripts/platforms/lists.js writes these lines.\n',
    BINARIES.map(jobOf).join(''),
    '    steps:\n',
  ],
  [
    'lib/native/platforms.ts',
    'export const SYSTEMS: [system: string, targets: string[]][] = [\n',
    groups().map(groupAsCode).join(''),
    ']\n',
  ],
  [
    'lib/native/packages/traced.cjs',
    '    switch (target) {\n',
    [...BINARIES.map(({ name }) => name).sort(), 'wasm32-wasi', ...SELECTORS].map(caseOf).join(''),
    '    }\n',
  ],
  [
    'docs/reference/platforms.md',
    '| package | system | CPU | built with | run before a release | run every week |\n|---|---|---|---|---|---|\n',
    PACKAGED.map(rowOf).join(''),
    '\n*Smoke*',
  ],
  ['docs/reference/platforms.md', '<!-- platforms -->\n', `${tableOf(readResults())}\n`, '<!-- /platforms -->'],
]

/** The text with its list, from what the list comes after to what comes after it. */
function withList(file, text, [start, list, end]) {
  const from = text.indexOf(start) + start.length
  const to = text.indexOf(end, from)
  if (from < start.length || to < 0) throw new Error(`${file} has no place for the list of platforms after ${start}`)
  return text.slice(0, from) + list + text.slice(to)
}

/** The files as they should be: [file, text now, text with its lists]. */
const lists = () =>
  [...new Set(LISTS.map(([file]) => file))].map((file) => {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8').replaceAll('\r\n', '\n')
    const own = LISTS.filter((list) => list[0] === file)
    return [file, text, own.reduce((listed, [, ...list]) => withList(file, listed, list), text)]
  })

module.exports = { lists, SELECTORS }

if (require.main === module) for (const [file, , text] of lists()) fs.writeFileSync(path.join(ROOT, file), text)
