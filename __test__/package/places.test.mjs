// Where a bundle looks for code: next to itself and in its node_modules, however it is started. All other places
// contain files that must not run: the current folder, the folders above the bundle, and the folder of the program that
// loads it.

import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { build } from 'esbuild'

const require = createRequire(import.meta.url)
const { ownPlatform } = require('../../scripts/pack.js')

const root = path.join(import.meta.dirname, '..', '..')
const { main: file, name: ownPackage } = ownPlatform().manifest
const CLIENTS = ['ioredis', 'iovalkey', 'redis']

const SAYS_PLANTED = `console.log('PLANTED'); process.exit(3)`

/** A package that only prints its name. */
async function addPackage(folder, name, code) {
  const own = path.join(folder, 'node_modules', name)
  await mkdir(own, { recursive: true })
  await writeFile(path.join(own, 'package.json'), JSON.stringify({ name, version: '99.0.0', main: 'index.js' }))
  await writeFile(path.join(own, 'index.js'), code)
}

/** Files that must not run: the program would report a rejected shared library, and a script prints that it ran. */
async function plant(folder) {
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, file), 'PLANTED')
  await writeFile(path.join(folder, 'package.json'), '{ "name": "flakeforge" }')
  for (const name of ['flakeforge', ownPackage, ...CLIENTS]) await addPackage(folder, name, SAYS_PLANTED)
}

/** Prints an ID, and the client that an address loads. */
const PROGRAM = `
  import { FlakeId } from 'flakeforge'
  import { openStore } from 'flakeforge/lease'
  globalThis.main = () => {
    let client
    try { openStore('redis://localhost') } catch (error) { client = error.message }
    console.log(JSON.stringify([new FlakeId().nextString().length, globalThis.client ?? client]))
    process.exit()
  }
  if (process.env.RUN !== 'later') globalThis.main()
`

/** The output of a client that reports that it was loaded, and is not a client. */
const REAL_CLIENT = `globalThis.client = 'the real client'; module.exports = class {}`

const FORMATS = {
  cjs: { format: 'cjs', outExtension: { '.js': '.cjs' } },
  esm: {
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)` },
  },
}

/** A bundle two folders below a temporary one, where other users may put files. */
async function bundle(t, format) {
  const temp = await realpath(await mkdtemp(path.join(os.tmpdir(), 'flakeforge-places-')))
  t.teardown(() => rm(temp, { recursive: true, force: true, maxRetries: 5 }))
  const dist = path.join(temp, 'app', 'dist')
  const elsewhere = path.join(temp, 'elsewhere')
  await mkdir(dist, { recursive: true })
  await plant(elsewhere)
  await writeFile(path.join(temp, 'program.mjs'), PROGRAM)
  await build({
    ...FORMATS[format],
    ...{
      entryPoints: [path.join(temp, 'program.mjs')],
      bundle: true,
      platform: 'node',
      outdir: dist,
      logLevel: 'error',
    },
    alias: {
      flakeforge: path.join(root, 'dist', 'index.mjs'),
      'flakeforge/lease': path.join(root, 'dist', 'lease.mjs'),
    },
  })
  return { temp, dist, elsewhere, program: path.join(dist, `program.${{ cjs: 'cjs', esm: 'mjs' }[format]}`) }
}

/** How a bundle may be started: arguments of Node.js, with the folder to start it in. */
async function ways({ temp, elsewhere, program }) {
  const link = path.join(temp, 'bin', 'start.mjs')
  await mkdir(path.dirname(link), { recursive: true })
  await symlink(program, link)
  const runtime = path.join(elsewhere, 'runtime.cjs')
  await writeFile(runtime, `import(process.env.HANDLER).then(() => globalThis.main?.())`)
  const thread = path.join(elsewhere, 'thread.cjs')
  await writeFile(thread, `new (require('node:worker_threads').Worker)(process.env.HANDLER)`)
  const started = { itself: [program], 'a link': [link], 'another program': [runtime], 'a thread of another': [thread] }
  started['--import'] = ['--import', program, runtime]
  started['--eval'] = ['--eval', 'import(process.env.HANDLER)', path.join(elsewhere, 'an-argument.js')]
  if (program.endsWith('.cjs')) started['-r'] = ['-r', program, runtime]
  return started
}

async function outcome({ elsewhere, program }, args) {
  const env = { ...process.env, HANDLER: program, NAPI_RS_NATIVE_LIBRARY_PATH: '' }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: elsewhere, env })
    return JSON.parse(stdout.split('\n')[0])
  } catch ({ stdout, stderr }) {
    return /PLANTED/.test(stdout + stderr) ? 'a planted file ran' : (/ERR_FLAKE_\w+/.exec(stderr)?.[0] ?? stderr)
  }
}

async function outcomes(built) {
  const all = {}
  for (const [way, args] of Object.entries(await ways(built))) all[way] = await outcome(built, args)
  return Object.values(all).every((each) => JSON.stringify(each) === JSON.stringify(Object.values(all)[0]))
    ? Object.values(all)[0]
    : all
}

for (const format of Object.keys(FORMATS)) {
  test(`a bundle, ${format}: the addon and the client in node_modules next to it, however it is started`, async (t) => {
    const built = await bundle(t, format)
    for (const folder of [built.temp, path.join(built.temp, 'app')]) await writeFile(path.join(folder, file), 'PLANTED')
    await addPackage(built.dist, ownPackage, `process.dlopen(module, ${JSON.stringify(path.join(root, file))})`)
    await addPackage(built.dist, 'redis', REAL_CLIENT)
    t.deepEqual(await outcomes(built), [19, 'the real client'])
  })

  test(`a bundle, ${format}: the addon next to it, and no client anywhere`, async (t) => {
    const built = await bundle(t, format)
    await cp(path.join(root, file), path.join(built.dist, file))
    await chmod(path.join(built.dist, file), 0o755)
    for (const folder of [built.temp, path.join(built.temp, 'app')]) await writeFile(path.join(folder, file), 'PLANTED')
    const [length, client] = await outcomes(built)
    t.is(length, 19)
    t.regex(client, /needs a client package/)
  })

  test(`a bundle, ${format}: nothing next to it is an error, whatever is elsewhere`, async (t) => {
    const built = await bundle(t, format)
    for (const folder of [built.temp, path.join(built.temp, 'app')]) await writeFile(path.join(folder, file), 'PLANTED')
    t.is(await outcomes(built), 'ERR_FLAKE_LOAD')
  })
}

test('an install: the clients of the project, not those of the current folder', async (t) => {
  const temp = await realpath(await mkdtemp(path.join(os.tmpdir(), 'flakeforge-places-')))
  t.teardown(() => rm(temp, { recursive: true, force: true, maxRetries: 5 }))
  const [app, elsewhere] = [path.join(temp, 'app'), path.join(temp, 'elsewhere')]
  await plant(elsewhere)
  for (const part of ['dist', 'package.json'])
    await cp(path.join(root, part), path.join(app, 'node_modules', 'flakeforge', part), { recursive: true })
  await addPackage(app, ownPackage, `process.dlopen(module, ${JSON.stringify(path.join(root, file))})`)
  await addPackage(app, 'redis', REAL_CLIENT)
  for (const name of ['main.cjs', 'main.mjs']) {
    const program = path.join(app, name)
    const code = name.endsWith('.mjs')
      ? PROGRAM
      : PROGRAM.replace(/import (\{.*?\}) from ('.*?')/g, 'const $1 = require($2)')
    await writeFile(program, code)
    t.deepEqual(await outcome({ elsewhere, program }, [program]), [19, 'the real client'])
  }
})
