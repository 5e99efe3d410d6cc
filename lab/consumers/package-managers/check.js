// A project that names flakeforge, installed and run by each package manager and runtime: the rows of the table in
// docs/reference/package-managers.md. flakeforge is packed with its platform package as an optional dependency, as in a release.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { env, packed, project, run } = require('../project.js')
const { ownPlatform } = require('../../../scripts/pack.js')
const { programOf } = require('../../../scripts/runtimes.js')

const DOCUMENT = path.join(__dirname, '..', '..', '..', 'docs', 'reference', 'package-managers.md')
const platform = ownPlatform().manifest

/** The rows of the table: package manager, how to install, how to run. */
function rows() {
  const lines = fs.readFileSync(DOCUMENT, 'utf8').split('\n')
  const cells = lines.filter((line) => line.includes('| `')).map((line) => line.split('|').map((cell) => cell.trim()))
  return cells.map(([, name, install, start]) => ({ name, install: install.slice(1, -1), start: start.slice(1, -1) }))
}

function must({ ok, output }) {
  if (!ok) throw new Error(output)
}

/** The tarballs that replace the registry; postgres.js is a client without dependencies. */
function tarballs(folder, modules) {
  must(run('npm', ['pack', '--ignore-scripts', path.join(modules, 'postgres')], folder))
  const client = fs.readdirSync(folder).find((name) => name.startsWith('postgres-'))
  return { flakeforge: packed().main, client: path.join(folder, client), addon: packed().platform }
}

/** A folder with the programs under the names that the document uses. */
function programs(folder, modules) {
  const place = path.join(folder, 'bin')
  const commands = {
    bun: `exec '${programOf('bun')}' "$@"`,
    deno: `exec '${programOf('deno')}' "$@"`,
    pnpm: `exec node '${path.join(modules, 'pnpm', 'bin', 'pnpm.mjs')}' "$@"`,
    yarn: `exec node '${path.join(modules, '@yarnpkg', 'cli-dist', 'bin', 'yarn.js')}' "$@"`,
  }
  fs.mkdirSync(place)
  for (const [name, command] of Object.entries(commands)) {
    fs.writeFileSync(path.join(place, name), `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  }
  return place
}

/** A separate project for each row; each package manager has its own way to say "use this tarball for that package". */
function newProject(folder, { flakeforge, client, addon }) {
  const instead = { [platform.name]: `file:${addon}` }
  const manifest = {
    private: true,
    dependencies: { flakeforge: `file:${flakeforge}`, postgres: `file:${client}` },
    overrides: instead,
    resolutions: instead,
  }
  fs.mkdirSync(folder)
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest))
  fs.writeFileSync(path.join(folder, 'pnpm-workspace.yaml'), JSON.stringify({ overrides: instead }))
  fs.writeFileSync(path.join(folder, 'yarn.lock'), '')
  fs.copyFileSync(path.join(__dirname, 'program.mjs'), path.join(folder, 'program.mjs'))
}

/** The faults in the program's output, which should be three IDs of this minute, in order. */
function faultOf(text) {
  const found = /^\["\d+","\d+","\d+"\]$/m.exec(text)
  if (found === null) return 'no IDs'
  const ids = JSON.parse(found[0]).map(BigInt)
  const FlakeId = require('flakeforge')
  const age = Date.now() - new FlakeId().decode(ids[0]).timestamp
  if (ids[0] >= ids[1] || ids[1] >= ids[2]) return 'the IDs are not in order'
  if (Math.abs(age) > 60_000) return `the first ID is ${age} ms old`
}

class Rows {
  constructor({ away, modules, report }) {
    Object.assign(this, { away, report, tarballs: tarballs(away, modules), bin: programs(away, modules), count: 0 })
  }

  /** Runs a command of the document in a folder, with separate caches. */
  #run(command, folder) {
    const caches = path.join(this.away, 'caches')
    const settings = {
      PATH: `${this.bin}${path.delimiter}${env.PATH}`,
      DENO_DIR: path.join(caches, 'deno'),
      DENO_NO_UPDATE_CHECK: '1',
      BUN_INSTALL_CACHE_DIR: path.join(caches, 'bun'),
      XDG_DATA_HOME: path.join(caches, 'data'), // pnpm
      XDG_CACHE_HOME: path.join(caches, 'cache'),
      XDG_STATE_HOME: path.join(caches, 'state'),
      YARN_GLOBAL_FOLDER: path.join(caches, 'yarn'),
      YARN_ENABLE_TELEMETRY: '0',
      YARN_ENABLE_IMMUTABLE_INSTALLS: '0', // on by default in CI
      CI: '1',
    }
    return run('sh', ['-c', command], folder, { env: settings })
  }

  /** Installs a row's project, or reports why not. */
  install({ name, install }) {
    const folder = path.join(this.away, `row-${++this.count}`)
    newProject(folder, this.tarballs)
    const result = this.#run(install, folder)
    if (!result.ok) this.report(`${name}: ${install}`, result)
    return result.ok ? folder : undefined
  }

  start({ name, start }, folder, address = '') {
    const result = this.#run(`${start} ${address}`, folder)
    const fault = result.ok ? faultOf(result.stdout) : 'it failed'
    this.report(`${name}: ${start}${address && ', with an address'}`, {
      ok: fault === undefined,
      output: `${fault}\n${result.output}`,
    })
  }

  /** Without the addon there must be an error that names the flag to leave out. */
  fails({ name, start }, folder) {
    const { ok, output } = this.#run(start, folder)
    this.report(`${name}: an error that helps`, { ok: !ok && /Error: .*optional/m.test(output), output })
  }
}

/** A program of one file must run alone: with nothing next to it, and nothing left where it was built. */
function isolate(folder, away) {
  const alone = fs.mkdtempSync(path.join(away, 'alone-'))
  fs.renameSync(path.join(folder, 'program'), path.join(alone, 'program'))
  fs.rmSync(folder, { recursive: true })
  return alone
}

function checkRow(all, row, address) {
  const folder = all.install(row)
  if (folder === undefined) return
  if (row.install.includes('--omit=optional')) return all.fails(row, folder)
  all.start(row, folder)
  if (row.start.endsWith('./program')) {
    const alone = isolate(folder, all.away)
    return all.start({ ...row, start: './program' }, alone, address)
  }
  if (address)
    all.start(
      { ...row, start: row.start.replace('--allow-env', '--allow-env --allow-net --allow-sys') },
      folder,
      address,
    )
}

module.exports = async function check(report, wants) {
  const { startPostgres, wantPostgres } = await import('../../../__test__/servers/postgres.mjs')
  const folder = project(__dirname)
  const away = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-package-managers-'))
  const server = wantPostgres() === undefined ? undefined : await startPostgres()
  try {
    if (server)
      must(
        run(
          process.execPath,
          ['dist/flakeforge.cjs', 'create', server.url, 'orders'],
          path.join(__dirname, '../../..'),
        ),
      )
    const all = new Rows({ away, modules: path.join(folder, 'node_modules'), report })
    for (const row of rows().filter(({ name }) => wants(name))) checkRow(all, row, server?.url)
  } finally {
    await server?.stop()
    fs.rmSync(away, { recursive: true, force: true, maxRetries: 3 })
  }
}
