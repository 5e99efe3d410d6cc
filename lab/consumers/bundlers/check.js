// One small application, built by each bundler as docs/reference/bundling.md says, and run where it can reach neither this
// repository nor the project that built it. The configurations and commands are read from the document.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { project, run } = require('../project.js')
const { ownPlatform } = require('../../../scripts/pack.js')
const { programOf } = require('../../../scripts/runtimes.js')

const COMMAND = path.join('node_modules', 'flakeforge', 'dist', 'flakeforge.cjs')
const WAYS = ['an address', 'a client'] // see ids.mjs
const DOCUMENT = path.join(__dirname, '..', '..', '..', 'docs', 'reference', 'bundling.md')
const platform = ownPlatform().manifest

/** A chapter's configuration files and commands. */
function chapterOf(title) {
  const text = fs.readFileSync(DOCUMENT, 'utf8')
  const chapter = text.split(/^## /m).find((part) => part.startsWith(`${title}\n`))
  const blocks = (language) => [...chapter.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))]
  const files = blocks('javascript').map(([, code]) => ({ name: /^\/\/ (\S+)\n/.exec(code)[1], code }))
  for (const [, code] of blocks('json')) files.push({ name: 'sea-config.json', code })
  const commands = blocks('sh').flatMap(([, code]) => code.trim().split('\n'))
  return { files, commands }
}

let away // a folder far from this repository

/** An empty folder in `away`, which is removed when the program ends. */
function freshFolder() {
  if (away === undefined) {
    away = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-bundles-'))
    process.once('exit', () => fs.rmSync(away, { recursive: true, force: true, maxRetries: 3 }))
  }
  return fs.mkdtempSync(path.join(away, 'bundle-'))
}

/** The file to start that a build has left. */
const programIn = (folder) => fs.readdirSync(folder).find((name) => /^(?:program|index)\.[cm]?js$/.test(name))

/** Copies a package and its dependencies from one node_modules to another. */
function copyPackage(name, from, to) {
  const [source, target] = [path.join(from, name), path.join(to, name)]
  if (fs.existsSync(target)) return
  fs.cpSync(source, target, { recursive: true })
  const { dependencies = {} } = JSON.parse(fs.readFileSync(path.join(source, 'package.json'), 'utf8'))
  for (const dependency of Object.keys(dependencies)) copyPackage(dependency, from, to)
}

/**
 * What is wrong with an application's output, which should be an array of two IDs of this minute, in order, and one
 * more number.
 */
function faultOf(text) {
  let ids
  try {
    ids = JSON.parse(text).map(BigInt)
  } catch {
    return `this is no array of IDs: ${text}`
  }
  const FlakeId = require('flakeforge')
  const age = Date.now() - new FlakeId().decode(ids[0]).timestamp
  if (ids.length !== 3 || ids[0] >= ids[1]) return `not two IDs in order and a third: ${text}`
  if (Math.abs(age) > 60_000) return `an ID that is ${age} ms old: ${text}`
}

const outcome = (result, fault = result.ok ? faultOf(result.stdout) : 'it failed') => ({
  ok: fault === undefined,
  output: `${fault}\n${result.output}`,
})

/** A folder of somebody else's, with an addon and clients that say so. */
function plantedFolder() {
  const folder = freshFolder()
  fs.writeFileSync(path.join(folder, platform.main), 'PLANTED')
  for (const name of [platform.name, 'flakeforge', 'ioredis', 'iovalkey', 'redis']) {
    const own = path.join(folder, 'node_modules', name)
    fs.mkdirSync(own, { recursive: true })
    fs.writeFileSync(path.join(own, 'index.js'), `console.log('PLANTED: ${name}'); process.exit(1)`)
  }
  return folder
}

/** A file in a folder. */
function written(folder, name, text) {
  fs.writeFileSync(path.join(folder, name), text)
  return path.join(folder, name)
}

function linked(program, folder) {
  const link = path.join(folder, `link${path.extname(program)}`)
  fs.symlinkSync(program, link)
  return link
}

/** How a program is started: the arguments of Node before its own. */
const STARTS = {
  itself: (program) => [program],
  'through a link': (program, folder) => [linked(program, folder)],
  'by another program': (_, folder) => [written(folder, 'runtime.cjs', 'import(process.env.PROGRAM)')],
  'in a worker thread': (_, folder) => [
    written(
      folder,
      'pool.cjs',
      `new (require('node:worker_threads').Worker)(process.env.PROGRAM, { argv: process.argv.slice(2) })`,
    ),
  ],
  'with --import': (program, folder) => ['--import', program, written(folder, 'empty.cjs', '')],
}

class Builds {
  constructor({ folder, url, report }) {
    Object.assign(this, { folder, modules: path.join(folder, 'node_modules'), url, report })
  }

  /** Runs each command of a chapter, and passes what it left in dist/ to `check`. */
  async build(title, check) {
    const { files, commands } = chapterOf(title)
    for (const { name, code } of files) this.configure(name, code)
    for (const command of commands) {
      fs.rmSync(path.join(this.folder, 'dist'), { recursive: true, force: true })
      const built = run('sh', ['-c', command], this.folder, { env: { NEXT_TELEMETRY_DISABLED: '1' } })
      const isQuiet = !/compiled with \d+ warning/.test(built.output)
      this.report(`${title}: ${command.slice(0, 70)}`, { ...built, ok: built.ok && isQuiet })
      if (built.ok) await check(title)
    }
  }

  /** If the project already has a file of that name, that one imports the documented one. */
  configure(name, code) {
    const own = path.join(__dirname, name)
    const documented = name.replace(/(?=\.\w+$)/, '.documented')
    fs.writeFileSync(path.join(this.folder, fs.existsSync(own) ? documented : name), code)
  }

  /** Puts the output into a folder of its own, next to these files. */
  #copy(addBeside = () => {}) {
    const folder = freshFolder()
    fs.cpSync(path.join(this.folder, 'dist'), folder, { recursive: true })
    addBeside(folder)
    return folder
  }

  /** Runs the output there, from another folder, in which lie files that must not run. */
  runAlone(way, addBeside, start = STARTS.itself) {
    const folder = this.#copy(addBeside)
    const program = path.join(folder, programIn(folder))
    const elsewhere = plantedFolder()
    return run(process.execPath, [...start(program, elsewhere), way], elsewhere, {
      env: { REDIS_URL: this.url, PROGRAM: program },
    })
  }

  /** What it prints without the addon. (Node itself would print the whole program first if that is one long line.) */
  #messageAlone() {
    const folder = this.#copy()
    const code = `import('./${programIn(folder)}').catch((error) => console.log(String(error)))`
    return run(process.execPath, ['-e', code], folder)
  }

  /** The addon as a file, which one has to copy according to docs/reference/bundling.md. */
  addAddon = (folder) => {
    const copy = 'cp node_modules/@flakeforge/binding-*/*.node dist/'
    if (!fs.readFileSync(DOCUMENT, 'utf8').includes(copy))
      throw new Error(`docs/reference/bundling.md does not say: ${copy}`)
    fs.copyFileSync(path.join(this.modules, platform.name, platform.main), path.join(folder, platform.main))
  }

  /** What stays in node_modules: never flakeforge itself. */
  addPackages = (folder) => {
    for (const name of [platform.name, 'ioredis']) copyPackage(name, this.modules, path.join(folder, 'node_modules'))
  }

  checkBundle = (title) => {
    const name = `${title}, ${programIn(path.join(this.folder, 'dist'))}`
    this.report(`${name}: a client, the addon beside it`, outcome(this.runAlone('a client', this.addAddon)))
    for (const [start, args] of Object.entries(STARTS)) {
      const result = this.runAlone('an address', this.addPackages, args)
      this.report(`${name}: an address, packages in node_modules, started ${start}`, outcome(result))
    }
    const { output } = this.#messageAlone()
    this.report(`${name}: says so where the addon is missing`, { ok: /^Error: .*flakeforge/i.test(output), output })
  }

  /** A client for addresses, which the program does not import. */
  addClient = (folder) => copyPackage('ioredis', this.modules, path.join(folder, 'node_modules'))

  checkWithAddon = (name) => {
    this.report(`${name}: a client, nothing else there`, outcome(this.runAlone('a client')))
    this.report(`${name}: an address, its client in node_modules`, outcome(this.runAlone('an address', this.addClient)))
  }
}

/** How an executable is started: the program, and variables for it. */
const STARTS_OF_EXECUTABLE = {
  itself: (program) => ({ command: program }),
  'through a link': (program, folder) => ({ command: linked(program, folder) }),
  'by a relative path': (program, folder) => ({ command: path.relative(folder, program) }),
  'by its name': (program) => ({
    command: path.basename(program),
    env: { PATH: `${path.dirname(program)}${path.delimiter}${process.env.PATH}` },
  }),
}

/** A single executable application of this Node.js: its last command copies the addon beside it. */
function checkExecutable(builds, node) {
  const title = 'Single executable applications'
  const { folder, report, url } = builds
  const name = `${title}, Node ${run(node, ['--version'], folder).stdout.trim()}`
  const PATH = `${path.dirname(node)}${path.delimiter}${process.env.PATH}`
  fs.rmSync(path.join(folder, 'dist'), { recursive: true, force: true })
  const { files, commands } = chapterOf(title)
  for (const file of files) builds.configure(file.name, file.code)
  for (const command of commands) {
    const built = run('sh', ['-c', command], folder, { env: { PATH } })
    if (!built.ok) return report(`${name}: ${command.slice(0, 70)}`, built)
  }
  const away = freshFolder()
  for (const file of ['program', platform.main]) fs.copyFileSync(path.join(folder, 'dist', file), path.join(away, file))
  for (const [start, of] of Object.entries(STARTS_OF_EXECUTABLE)) {
    const elsewhere = plantedFolder()
    const { command, env } = of(path.join(away, 'program'), elsewhere)
    const result = run(command, ['a client'], elsewhere, { env: { ...env, REDIS_URL: url } })
    report(`${name}: a client, started ${start}`, outcome(result))
  }
}

/** Asks a running Next.js server in both ways. */
async function checkServer(name, { command, folder, url, report }) {
  const { freePort, Server } = await import('../../../__test__/servers/server.mjs')
  const port = await freePort()
  const settings = [`PORT=${port}`, 'HOSTNAME=127.0.0.1', `REDIS_URL=${url}`, 'NEXT_TELEMETRY_DISABLED=1']
  const ask = async (way) => {
    const response = await fetch(`http://127.0.0.1:${port}/ids?way=${encodeURIComponent(way)}`)
    const text = await response.text()
    return { ok: response.ok, stdout: text, output: text }
  }
  const isReady = () => fetch(`http://127.0.0.1:${port}/nothing`)
  const server = new Server({ command: ['env', ...settings, process.execPath, ...command], folder, isReady })
  try {
    await server.start()
    for (const way of WAYS) report(`${name}: ${way}`, outcome(await ask(way)))
  } catch (error) {
    report(name, { ok: false, output: error.stack })
  } finally {
    await server.stop()
  }
}

async function checkNext(builds) {
  const { folder, url, report } = builds
  const next = path.join(folder, 'node_modules', 'next', 'dist', 'bin', 'next')
  await checkServer('Next.js: next start', { command: [next, 'start', folder], folder: freshFolder(), url, report })
  const standalone = freshFolder()
  fs.cpSync(path.join(folder, '.next', 'standalone'), standalone, { recursive: true, verbatimSymlinks: true })
  await checkServer('Next.js: standalone', { command: ['server.js'], folder: standalone, url, report })
}

module.exports = async function check(report, wants) {
  const { startRedis, wantRedis } = await import('../../../__test__/servers/redis.mjs')
  if (wantRedis() === undefined) return report('bundlers: skipped, there is no redis-server', { ok: true })
  const folder = project(__dirname)
  const server = await startRedis()
  try {
    const builds = new Builds({ folder, url: server.url, report })
    const created = run(process.execPath, [COMMAND, 'create', server.url, 'orders'], folder)
    if (!created.ok) throw new Error(created.output)
    for (const title of ['esbuild', 'webpack', 'Rollup', 'Vite'].filter(wants))
      await builds.build(title, builds.checkBundle)
    for (const major of wants('executable') ? [20, 22, 24] : []) checkExecutable(builds, programOf(`node-${major}`))
    if (wants('ncc')) await builds.build('ncc', builds.checkWithAddon)
    if (wants('Next.js')) await builds.build('Next.js', () => checkNext(builds))
  } finally {
    await server.stop()
  }
}
