// Checks flakeforge with the TypeScript versions that it supports. In each kind of project the consumers in
// __test__/types must compile, the mistakes must not, and the result must run. It also checks what an editor shows, and
// what happens without @types/node.

const { execFile } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { KINDS, RUN, STRICT, unexpected, writeProject, writeProjects } = require('../../../__test__/types/kinds.cjs')
const { env, project } = require('../project.js')
const undocumented = require('./undocumented.js')

const OLDEST = '5.4'
const NEWEST = '7.0'

/**
 * The setting for servers, and half the work. The newest version also compiles with the types of browsers, which is the
 * default.
 */
const WITHOUT_BROWSERS = { lib: ['es2022'] }

/** The options of a version: for all kinds of project, and for commonjs. */
const OPTIONS = {
  5.4: { all: WITHOUT_BROWSERS },
  5.9: { all: WITHOUT_BROWSERS },
  '6.0': { all: WITHOUT_BROWSERS, commonjs: { moduleResolution: 'bundler' } }, // its default; node10 is deprecated
  '7.0': { commonjs: { moduleResolution: 'bundler' } }, // node10 no longer exists
}

/** node16 and nodenext find types in the same way; only the oldest and the newest version try both. */
const kindsOf = (version) =>
  Object.keys(KINDS).filter((kind) => kind !== 'node16' || [OLDEST, NEWEST].includes(version))

/**
 * Mistakes look the same if types are found in the same way. So one kind for ES modules and one for CommonJS are
 * enough.
 */
const MISTAKEN = ['nodenext', 'commonjs']

/** Runs Node.js to its end: whether it succeeded, and its output. */
function node(args, cwd) {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ ok: error === null, output: `${stdout}${stderr}`.trim() })
    })
  })
}

const compiler = (folder, version) => path.join(folder, 'node_modules', `typescript-${version}`, 'bin', 'tsc')

/** Compiles projects, all in one process, so that it reads the libraries only once. */
const build = (folder, version, projects) =>
  node([compiler(folder, version), '--build', '--pretty', 'false', ...projects], folder)

/** The lines of tsc's output about a project. */
const about = (project, output) =>
  output.split('\n').filter((line) => line.startsWith(`${project}/`) && / TS\d+/.test(line))

async function checkVersion(folder, version, report) {
  const kinds = kindsOf(version)
  const projects = kinds.flatMap((kind) => {
    const [right, wrong] = writeProjects(path.join(folder, version), kind, {
      ...OPTIONS[version].all,
      ...OPTIONS[version][kind],
    })
    return MISTAKEN.includes(kind) ? [right, wrong] : [right]
  })
  const { output } = await build(folder, version, projects)
  const stray = output.split('\n').filter((line) => /error TS\d+/.test(line) && !line.startsWith(`${version}/`))
  for (const kind of kinds) {
    const wrong = [...stray, ...about(`${version}/${kind}`, output)]
    report(`TypeScript ${version}, ${kind}: consumers compile`, { ok: wrong.length === 0, output: wrong.join('\n') })
  }
  for (const kind of MISTAKEN) {
    const wrong = unexpected(about(`${version}/${kind}-mistakes`, output).join('\n'))
    report(`TypeScript ${version}, ${kind}: mistakes do not`, { ok: wrong.length === 0, output: wrong.join('\n') })
  }
}

/** The compiled consumers of the oldest and the newest tsc. */
async function runCompiled(folder, report) {
  for (const version of [OLDEST, NEWEST]) {
    for (const name of RUN.map((each) => each.replace('ts', 'js'))) {
      const { ok, output } = await node([path.join(version, 'nodenext', name)], folder)
      report(`TypeScript ${version}: ${name} runs`, { ok: ok && /^\S+ is right$/.test(output), output })
    }
  }
}

/** Also checks the newest types of Node.js, not only those of the oldest: Buffer has a type parameter there. */
async function checkNewestNode(folder, report) {
  const roots = path.join(folder, 'newest-node')
  fs.mkdirSync(roots)
  fs.symlinkSync(path.join(folder, 'node_modules', '@types', 'node-26'), path.join(roots, 'node'), 'junction')
  const [right] = writeProjects(path.join(folder, 'with-newest-node'), 'nodenext', { typeRoots: [roots] })
  const { ok, output } = await build(folder, NEWEST, [right])
  report(`TypeScript ${NEWEST}, @types/node 26: consumers compile`, { ok, output })
}

/** If @types/node is missing, tsc must report that, except with `skipLibCheck`: then nothing can make it. */
async function checkWithoutNode(folder, report) {
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-no-node-')) // away from every other node_modules
  try {
    const installed = path.join('node_modules', 'flakeforge')
    fs.cpSync(path.join(folder, installed), path.join(temp, installed), { recursive: true })
    const source = "import FlakeId from 'flakeforge'\nnew FlakeId().next()\n"
    const options = { ...STRICT, types: [], noEmit: true, ...KINDS.nodenext.options }
    writeProject(temp, { 'source.mts': source }, options)
    for (const version of [OLDEST, NEWEST]) {
      const { ok, output } = await node([compiler(folder, version), '--pretty', 'false'], temp)
      const isClear =
        /TS2688: Cannot find type definition file for 'node'/.test(output) && /npm i .*@types\/node/.test(output)
      report(`TypeScript ${version}, no @types/node: tsc says that it is missing`, { ok: !ok && isClear, output })
    }
  } finally {
    fs.rmSync(temp, { recursive: true, maxRetries: 5 })
  }
}

const PAGE = `
import { layouts } from 'flakeforge/codec'
import { RemoteFlakeId } from 'flakeforge/remote'

const flake = await RemoteFlakeId.connect(['https://ids.example'], { name: 'orders' })
const id: Uint8Array = await flake.nextAsync()
const date: Date = layouts.twitter.decode(id).date
console.log(date)
export {}
`

/** A page or a worker has the types of browsers, and no others. The packages' own types are checked too. */
async function checkPage(folder, report) {
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-page-'))
  try {
    const installed = path.join('node_modules', 'flakeforge')
    fs.cpSync(path.join(folder, installed), path.join(temp, installed), { recursive: true })
    const options = { ...STRICT, types: [], noEmit: true, lib: ['es2022', 'dom'], ...KINDS.nodenext.options }
    writeProject(temp, { 'page.mts': PAGE }, options)
    for (const version of [OLDEST, NEWEST])
      report(
        `TypeScript ${version}, a page without @types/node: flakeforge/remote and flakeforge/codec`,
        await node([compiler(folder, version), '--pretty', 'false'], temp),
      )
  } finally {
    fs.rmSync(temp, { recursive: true, maxRetries: 5 })
  }
}

module.exports = async (report, wants) => {
  const folder = project(__dirname)
  const checkAll = (versions) =>
    versions
      .filter(wants)
      .reduce((before, version) => before.then(() => checkVersion(folder, version, report)), Promise.resolve())
  await Promise.all([checkAll(['5.4', NEWEST, '5.9']), checkAll(['6.0'])]) // two cores
  if (!wants('the rest')) return
  await runCompiled(folder, report)
  await checkNewestNode(folder, report)
  await checkWithoutNode(folder, report)
  await checkPage(folder, report)
  const missing = undocumented(folder, '5.9')
  report('an editor shows the purpose of each option', { ok: missing.length === 0, output: missing.join('\n') })
}
