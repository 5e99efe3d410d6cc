// Follows the README from top to bottom in an empty folder, as a new user does: runs the commands and the programs, and
// compares their output with the README. flakeforge comes from the packed tarballs.

const { execFile } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')
const { packServer } = require('../../../scripts/pack.js')
const { env, packed, run } = require('../project.js')
const { start } = require('../server/start.js')

const root = path.join(__dirname, '..', '..', '..')
const README = fs.readFileSync(path.join(root, 'README.md'), 'utf8')

/** Replaces what differs from the README here: the present package, and servers on free ports. */
function localized(text, redis, service) {
  const { main, platform } = packed()
  return text
    .replace(/^npm install flakeforge$/m, `npm install ${main} ${platform}`)
    .replaceAll('redis://localhost', redis.url)
    .replaceAll('http://127.0.0.1:8080', service?.url)
}

/** For a new user npx installs the server. It keeps running while the blocks that follow use it. */
async function startService(folder) {
  const { ok, output } = run('npm', ['install', packServer(path.join(folder, 'tarballs'))], folder)
  if (!ok) throw new Error(output)
  const { child, url } = await start(folder)
  return { child, url: await url, line: `flakeforge-server is ready at ${await url}` }
}

/** What to run for a block; the README's TypeScript blocks are valid JavaScript too. */
function commandOf({ language, code }, folder, i) {
  if (language === 'sh') return ['bash', ['-euc', code]]
  if (language === 'python') return ['python3', ['-c', code]]
  const [, name = `block-${i}.mjs`] = /^\/\/ (\S+[.]mjs)$/m.exec(code) ?? [] // run by a later command
  const file = path.join(folder, name)
  fs.writeFileSync(file, code)
  return [process.execPath, [file]]
}

/** The fault in an output; undefined if it is as promised. */
function disagreement(documents, { code }, next, stdout) {
  const { agrees, promises, shape } = documents
  if (next?.language === '') {
    return shape(stdout) === shape(next.code) ? undefined : `the README shows\n${next.code}\nbut it prints\n${stdout}`
  }
  const printed = stdout.split('\n').slice(0, -1)
  for (const [line, promised] of promises(code).entries()) {
    if (promised !== undefined && !agrees(promised, printed[line] ?? ''))
      return `the README says '${promised}', but it prints '${printed[line]}'`
  }
}

/** The command that starts the server; it does not end without a signal. */
const SERVER = /^npx flakeforge-server$/

/** Runs a block and returns its output. */
async function outputOf(block, folder, i, { redis, service }) {
  const [program, args] = commandOf({ ...block, code: localized(block.code, redis, service) }, folder, i)
  const variables = { ...env, FLAKEFORGE_STORE: `file:${path.join(folder, 'slots')}` }
  const { stdout } = await promisify(execFile)(program, args, { cwd: folder, env: variables, timeout: 60_000 })
  return stdout
}

async function follow(report, redis, folder) {
  const documents = await import('../../../__test__/support/documents.mjs')
  const all = documents.blocks(README)
  let service
  for (const [i, block] of all.entries()) {
    // Output, and the commands for a clone, which __test__/documents/readme.test.mjs runs.
    if (block.language === '' || block.code.startsWith('git clone')) continue
    const command = block.code.trim()
    const name = `README, block ${i + 1}: ${command.split('\n')[0]}`
    try {
      if (SERVER.test(command)) service = await startService(folder)
      const stdout = SERVER.test(command) ? service.line : await outputOf(block, folder, i, { redis, service })
      const wrong = disagreement(documents, block, all[i + 1], stdout)
      report(name, { ok: wrong === undefined, output: wrong })
    } catch (error) {
      report(name, { ok: false, output: error.message })
    }
  }
  if (service !== undefined) await stop(service)
}

/** npx and the server: a terminal's Ctrl-C reaches both. */
async function stop({ child }) {
  const exit = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  await exit
}

module.exports = async (report) => {
  const { startRedis, wantRedis } = await import('../../../__test__/servers/redis.mjs')
  if (!wantRedis()) return report('README (SKIPPED: it needs redis-server)', { ok: true })
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-readme-'))
  const redis = await startRedis()
  try {
    await follow(report, redis, folder)
  } finally {
    await redis.stop()
    fs.rmSync(folder, { recursive: true })
  }
}
