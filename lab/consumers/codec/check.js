// The codec, and the main entry without an addon, in a real Chromium and in workerd: bundled as users' tools do it, from the
// packed package. Both must answer what Node answers, where the addon makes the texts. In workerd flakeforge/remote gets IDs of a
// flakeforge-server, too. Silence is a failure.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { isDeepStrictEqual } = require('node:util')
const { env, project, run } = require('../project.js')
const { ask } = require('./workerd.js')

const CHROMIUM = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--virtual-time-budget=20000',
  '--allow-file-access-from-files', // for the page without a bundler: modules are files here
]
const PATIENCE_MS = 60_000

/** What is wrong with an answer. */
function faultOf(text, wanted) {
  let answer
  try {
    answer = JSON.parse(text)
  } catch {
    return `no answer, but: ${text.slice(0, 2000)}`
  }
  if (answer.noAddon.some(([code, isNamed]) => code !== 'ERR_FLAKE_LOAD' || !isNamed)) return `${answer.noAddon}`
  if (!answer.isSame) return 'the main entry and the codec are not the same'
  if (`${answer.bytes}` !== 'Uint8Array,8') return `an ID is a ${answer.bytes}`
  const different = Object.keys(wanted).filter((key) => !isDeepStrictEqual(answer.work[key], wanted[key]))
  if (different.length > 0) return `not as in Node: ${different}`
}

function tell(report, name, text, wanted) {
  const fault = faultOf(text, wanted)
  report(name, { ok: fault === undefined, output: fault })
}

/** Bundles a file for a runtime with the given conditions. */
function bundle(folder, file, options) {
  const [name] = file.split('.')
  const out = path.join(folder, `${name}.out.mjs`)
  const esbuild = path.join(folder, 'node_modules', '.bin', 'esbuild')
  return run(esbuild, [file, '--bundle', '--platform=browser', `--outfile=${out}`, ...options], folder)
}

/** The page as a bundler makes it: one script. */
function bundled(folder) {
  const script = fs.readFileSync(path.join(folder, 'page.out.mjs'), 'utf8').replaceAll('</script', '<\\/script')
  return `<script>${script}</script>`
}

/** The page as it is: the browser loads the modules of the package one by one. */
const UNBUNDLED = `<script type="importmap">{ "imports": {
  "flakeforge": "./node_modules/flakeforge/dist/web/index.js",
  "flakeforge/codec": "./node_modules/flakeforge/dist/web/codec.js",
  "flakeforge/lease": "./node_modules/flakeforge/dist/web/lease.js",
  "flakeforge/remote": "./node_modules/flakeforge/dist/web/remote.js"
} }</script><script type="module" src="page.mjs"></script>`

/** What a page with these scripts shows. */
function inChromium(folder, scripts) {
  const page = path.join(folder, 'page.html')
  fs.writeFileSync(page, `<!doctype html><meta charset="utf-8"><body>${scripts}`)
  const profile = `--user-data-dir=${path.join(folder, 'profile')}`
  const args = [...CHROMIUM, profile, '--dump-dom', `file://${page}`]
  const { stdout } = spawnSync('chromium', args, { env, encoding: 'utf8', maxBuffer: 2 ** 28, timeout: PATIENCE_MS })
  const inner = /<body>([\s\S]*)<\/body>/.exec(stdout ?? '')?.[1] ?? `${stdout}`
  return inner.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&').trim()
}

/** What is wrong with the answer of the worker that gets IDs of a server. */
function faultOfRemote(text, { url }, gone) {
  let answer
  try {
    answer = JSON.parse(text)
  } catch {
    return `no answer, but: ${text.slice(0, 2000)}`
  }
  const { texts, text: last, timestamp, ...rest } = answer
  const ids = [...texts, last].map(BigInt)
  if (new Set(ids).size !== 1004) return `${new Set(ids).size} different IDs, and not 1004`
  if (ids.some((id, i) => i > 0 && id <= ids[i - 1])) return 'the IDs do not ascend'
  if (Math.abs(timestamp - Date.now()) > 60_000) return `the first ID is of ${new Date(timestamp)}`
  const wanted = {
    isSame: true,
    type: 'Uint8Array',
    server: `${url}/`,
    later: `${url}/`,
    closed: { code: 'ERR_FLAKE_DETACHED' },
    unknown: { code: 'ERR_FLAKE_NAME', status: 404 },
    none: { code: 'ERR_FLAKE_REMOTE', reasons: [`${gone}/`] },
  }
  if (!isDeepStrictEqual(rest, wanted)) return `${JSON.stringify(rest)}, and not ${JSON.stringify(wanted)}`
}

/** Both workers in one workerd, beside a flakeforge-server of this repository: ../server tries its package. */
async function inWorkerd(report, folder, wanted) {
  const { startServer } = await import('../../../__test__/servers/flakeforge.mjs')
  const server = await startServer()
  try {
    const gone = 'http://127.0.0.1:1' // nothing listens there
    const answers = await ask(folder, { codec: '/', remote: `/?server=${server.url}&server=${gone}` })
    tell(report, 'codec: workerd', answers.codec, wanted)
    const fault = faultOfRemote(answers.remote, server, gone)
    report('remote: workerd, with a flakeforge-server', { ok: fault === undefined, output: fault })
  } finally {
    await server.stop()
  }
}

/** A missing requirement is a failure where everything must be installed. */
function skip(report, why) {
  report(`codec: skipped, ${why}`, { ok: process.env.FLAKEFORGE_REQUIRE_SERVERS !== '1', output: why })
}

module.exports = async (report) => {
  const folder = project(__dirname)
  const { work } = await import(path.join(folder, 'work.mjs'))
  const main = require('flakeforge')
  const wanted = JSON.parse(JSON.stringify(work(main), main.jsonReplacer))
  report('codec: bundle for a page', bundle(folder, 'page.mjs', ['--format=iife']))
  for (const file of ['worker.mjs', 'remote.mjs'])
    report(
      `codec: bundle for a worker, ${file}`,
      bundle(folder, file, ['--format=esm', '--conditions=workerd,worker,browser']),
    )
  tell(
    report,
    'codec: Node, without the addon',
    JSON.stringify({ ...EMPTY, work: work({ ...main, ...require('flakeforge/codec') }) }, main.jsonReplacer),
    wanted,
  )
  await inWorkerd(report, folder, wanted)
  if (!run('sh', ['-c', 'command -v chromium'], folder).ok) return skip(report, 'there is no chromium')
  tell(report, 'codec: Chromium', inChromium(folder, bundled(folder)), wanted)
  tell(report, 'codec: Chromium, without a bundler', inChromium(folder, UNBUNDLED), wanted)
}

const EMPTY = { noAddon: [], isSame: true, bytes: ['Uint8Array', 8] }
