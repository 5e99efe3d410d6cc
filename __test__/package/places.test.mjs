// Where code is loaded from: the node_modules of the program. All other places contain files that must not run: the current
// folder, the folders above the program, NODE_PATH, the user's home, and for a bundle the folder of the program that loads it.

import { execFile } from 'node:child_process'
import { chmod, cp, lchown, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
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
  await symlink('node_modules', path.join(folder, '.node_modules'))
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
  const searched = { HOME: elsewhere, USERPROFILE: elsewhere, NODE_PATH: path.join(elsewhere, 'node_modules') } // by Node.js
  const env = { ...process.env, ...searched, HANDLER: program, NAPI_RS_NATIVE_LIBRARY_PATH: '' }
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
    for (const folder of [built.temp, path.join(built.temp, 'app')]) {
      await writeFile(path.join(folder, file), 'PLANTED')
      for (const name of ['flakeforge', ownPackage, ...CLIENTS]) await addPackage(folder, name, SAYS_PLANTED)
    }
    t.is(await outcomes(built), 'ERR_FLAKE_LOAD')
  })
}

const LOADS_ADDON = `process.dlopen(module, ${JSON.stringify(path.join(root, file))})`

/** flakeforge and its addon in a node_modules. */
async function install(folder) {
  for (const part of ['dist', 'package.json'])
    await cp(path.join(root, part), path.join(folder, 'node_modules', 'flakeforge', part), { recursive: true })
  await addPackage(folder, ownPackage, LOADS_ADDON)
}

/** A project with these files: two folders below one with planted packages. */
async function project(t) {
  const temp = await realpath(await mkdtemp(path.join(os.tmpdir(), 'flakeforge-places-')))
  t.teardown(() => rm(temp, { recursive: true, force: true, maxRetries: 5 }))
  const [elsewhere, app] = [path.join(temp, 'elsewhere'), path.join(temp, 'above', 'app')]
  await plant(elsewhere)
  await plant(path.dirname(app))
  await rm(path.join(path.dirname(app), 'package.json'))
  await mkdir(app)
  return { elsewhere, app }
}

const REQUIRING = PROGRAM.replace(/import (\{.*?\}) from ('.*?')/g, 'const $1 = require($2)')

async function write(file, text) {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
}

/** The outcome of a program in this folder. */
async function run({ elsewhere }, folder, name = 'main.cjs') {
  const program = path.join(folder, name)
  await write(program, name.endsWith('.mjs') ? PROGRAM : REQUIRING)
  return outcome({ elsewhere, program }, [program])
}

const FOUND = [19, 'the real client']

test('an install: the clients of the project, not those of the current folder', async (t) => {
  const made = await project(t)
  await install(made.app)
  await addPackage(made.app, 'redis', REAL_CLIENT)
  for (const name of ['main.cjs', 'main.mjs', 'lib/main.cjs']) t.deepEqual(await run(made, made.app, name), FOUND)
})

test('an install without a client: none is loaded from elsewhere', async (t) => {
  const made = await project(t)
  await install(made.app)
  await write(path.join(made.app, 'package.json'), '{}')
  await mkdir(path.join(made.app, 'node_modules', 'redis')) // empty: Node.js would go on to the next place
  const [length, client] = await run(made, made.app)
  t.is(length, 19)
  t.regex(client, /needs a client package/)
})

test('an install without the addon: none is loaded from elsewhere', async (t) => {
  const made = await project(t)
  await install(made.app)
  await rm(path.join(made.app, 'node_modules', ownPackage), { recursive: true })
  t.is(await run(made, made.app), 'ERR_FLAKE_LOAD')
})

for (const [tool, file, text] of [
  ['npm, Yarn and Bun', 'package.json', '{ "workspaces": ["packages/*"] }'],
  ['pnpm', 'pnpm-workspace.yaml', 'packages: ["packages/*"]'],
]) {
  test(`a workspace of ${tool}: its root is the limit, and the nearest client wins`, async (t) => {
    const made = await project(t)
    await write(path.join(made.app, file), text)
    await install(made.app)
    const member = path.join(made.app, 'packages', 'member')
    await write(path.join(member, 'package.json'), '{}')
    t.regex((await run(made, member))[1], /needs a client package/)
    await addPackage(made.app, 'iovalkey', REAL_CLIENT)
    t.deepEqual(await run(made, member), FOUND)
    await addPackage(made.app, 'iovalkey', SAYS_PLANTED)
    await addPackage(member, 'redis', REAL_CLIENT)
    t.deepEqual(await run(made, member), FOUND)
  })

  test(`a workspace of ${tool}, with an own flakeforge of a member: a hoisted client is found`, async (t) => {
    const made = await project(t)
    await write(path.join(made.app, file), text)
    const member = path.join(made.app, 'packages', 'member')
    await write(path.join(member, 'package.json'), '{}')
    await install(member)
    await addPackage(made.app, 'redis', REAL_CLIENT)
    t.deepEqual(await run(made, member), FOUND)
    await rm(path.join(made.app, file))
    t.regex((await run(made, member))[1], /needs a client package/)
  })
}

test('packages in a store that node_modules links to, as with pnpm', async (t) => {
  const made = await project(t)
  const isolated = (name) => path.join(made.app, 'node_modules', '.pnpm', `${name}@1.0.0`)
  await install(isolated('flakeforge'))
  await addPackage(isolated('redis'), 'redis', REAL_CLIENT)
  for (const name of ['flakeforge', 'redis'])
    await symlink(
      path.join(isolated(name), 'node_modules', name),
      path.join(made.app, 'node_modules', name),
      'junction',
    )
  t.deepEqual(await run(made, made.app), FOUND)
})

test('a program that is installed for all projects, with its packages below it', async (t) => {
  const made = await project(t)
  const program = path.join(made.app, 'lib', 'node_modules', 'program')
  await install(program)
  await addPackage(program, 'redis', REAL_CLIENT)
  await addPackage(path.join(made.app, 'lib'), 'ioredis', SAYS_PLANTED)
  t.deepEqual(await run(made, program), FOUND)
})

test('a linked flakeforge: the clients of the program that links to it', async (t) => {
  const made = await project(t)
  const checkout = path.join(made.app, 'checkout')
  await install(checkout)
  await mkdir(path.join(made.app, 'app', 'node_modules'), { recursive: true })
  const linked = path.join(made.app, 'app', 'node_modules', 'flakeforge')
  await symlink(path.join(checkout, 'node_modules', 'flakeforge'), linked, 'junction')
  await addPackage(path.join(made.app, 'app'), 'redis', REAL_CLIENT)
  t.deepEqual(await run(made, path.join(made.app, 'app')), FOUND)
})

for (const format of Object.keys(FORMATS)) {
  test(`a bundle, ${format}, in a project: the packages of the project`, async (t) => {
    const built = await bundle(t, format)
    await plant(built.temp)
    await rm(path.join(built.temp, 'package.json'))
    const app = path.join(built.temp, 'app')
    await write(path.join(app, 'package.json'), '{}')
    t.is(await outcome(built, [built.program]), 'ERR_FLAKE_LOAD')
    await addPackage(app, ownPackage, LOADS_ADDON)
    await addPackage(app, 'redis', REAL_CLIENT)
    t.deepEqual(await outcome(built, [built.program]), FOUND)
  })
}

const asRoot = process.getuid?.() === 0 ? test : test.skip
asRoot('a manifest above a bundle, of another user: its folder is not the project', async (t) => {
  const built = await bundle(t, 'cjs')
  await plant(built.temp)
  const stranger = 65_534
  for (const name of ['package.json', 'node_modules']) await lchown(path.join(built.temp, name), stranger, stranger)
  t.is(await outcome(built, [built.program]), 'ERR_FLAKE_LOAD')
  await lchown(path.join(built.temp, 'package.json'), 0, 0)
  t.is(await outcome(built, [built.program]), 'ERR_FLAKE_LOAD')
  await lchown(path.join(built.temp, 'node_modules'), 0, 0)
  t.is(await outcome(built, [built.program]), 'a planted file ran') // so the owner made the difference
})

asRoot('files next to a bundle, of another user: they are not its addon, and make no package of it', async (t) => {
  const stranger = 65_534
  for (const format of Object.keys(FORMATS)) {
    const built = await bundle(t, format)
    const [addon, marker] = [path.join(built.dist, file), path.join(built.dist, 'traced.cjs')]
    await cp(path.join(root, file), addon)
    await lchown(addon, stranger, stranger)
    t.is(await outcome(built, [built.program]), 'ERR_FLAKE_LOAD')
    await lchown(addon, 0, 0)
    t.is((await outcome(built, [built.program]))[0], 19) // so the owner made the difference
    await writeFile(marker, '')
    await lchown(marker, stranger, stranger)
    await addPackage(built.dist, 'redis', REAL_CLIENT)
    t.deepEqual(await outcome(built, [built.program]), FOUND)
  }
})

for (const name of ['package.json', 'pnpm-workspace.yaml']) {
  test(`a folder that is called ${name} above a program: it is not a manifest`, async (t) => {
    const built = await bundle(t, 'cjs')
    await plant(built.temp)
    await rm(path.join(built.temp, 'package.json'))
    await mkdir(path.join(built.temp, name))
    t.is(await outcome(built, [built.program]), 'ERR_FLAKE_LOAD')
  })
}

test('a manifest next to a bundle that has only a type: the packages of the project', async (t) => {
  const built = await bundle(t, 'cjs')
  const app = path.join(built.temp, 'app')
  await write(path.join(app, 'package.json'), '{ "name": "app" }')
  await write(path.join(built.dist, 'package.json'), '{ "type": "commonjs" }')
  await addPackage(app, ownPackage, LOADS_ADDON)
  await addPackage(app, 'redis', REAL_CLIENT)
  t.deepEqual(await outcome(built, [built.program]), FOUND)
  await write(path.join(built.dist, 'package.json'), '{ "type": "commonjs", "name": "server" }')
  t.is(await outcome(built, [built.program]), 'ERR_FLAKE_LOAD')
})

test('the addon that the environment names has to be an absolute path', async (t) => {
  const made = await project(t)
  await install(made.app)
  const program = path.join(made.app, 'main.cjs')
  await write(program, REQUIRING)
  await cp(path.join(root, file), path.join(made.elsewhere, 'own.node'))
  const env = { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: './own.node' }
  const { stderr } = await t.throwsAsync(promisify(execFile)(process.execPath, [program], { cwd: made.elsewhere, env }))
  t.regex(stderr, /NAPI_RS_NATIVE_LIBRARY_PATH must be an absolute path, but is \.\/own\.node/)
})
