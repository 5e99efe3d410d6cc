// A page that generates IDs, bundled by Vite from the packed packages and opened by a real Chromium: once with the
// headers that isolate a page from others, and once without. The page has to answer: silence is a failure.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { env, project, run } = require('../project.js')

/** `npm run platforms -- wasm32-wasi` leaves the package here. */
const PACKAGE = path.join(__dirname, '..', '..', '..', 'target', 'platforms', 'out', 'wasm32-wasi')
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' }
const ISOLATING = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
const PATIENCE_MS = 120_000

const chromium = () => run('sh', ['-c', 'command -v chromium'], __dirname).stdout.trim()

async function bodyOf(request) {
  const parts = []
  for await (const part of request) parts.push(part)
  return JSON.parse(Buffer.concat(parts).toString())
}

/** Serves the bundle, and calls `answered` with the page's message. */
async function serve(folder, headers, answered) {
  const server = http.createServer(async (request, response) => {
    if (request.method === 'POST') {
      answered(await bodyOf(request))
      return response.end()
    }
    const file = path.join(folder, request.url === '/' ? 'index.html' : request.url)
    if (!fs.existsSync(file)) return response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': TYPES[path.extname(file)] ?? 'text/plain', ...headers })
    response.end(fs.readFileSync(file))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Opens a page in a separate Chromium, until `done` settles. */
async function withPage(url, done) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-chromium-'))
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--user-data-dir=${profile}`]
  const browser = spawn(chromium(), [...flags, '--enable-logging=stderr', url], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  browser.stderr.on('data', (data) => {
    said += data
  })
  const ended = once(browser, 'close')
  const tooLate = AbortSignal.timeout(PATIENCE_MS)
  const late = once(tooLate, 'abort').then(() => ({ error: `no answer in ${PATIENCE_MS / 1000} s` }))
  try {
    const answer = await Promise.race([done, late, ended.then(() => ({ error: 'Chromium ended' }))])
    return {
      answer,
      said: said
        .split('\n')
        .filter((line) => line.includes('CONSOLE'))
        .join('\n'),
    }
  } finally {
    browser.kill()
    await ended
    fs.rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The faults in the page's answer. */
function faultOf({ error, ids, node, unique, files, isolated }, isIsolated) {
  if (error !== undefined) return error
  const FlakeId = require('flakeforge')
  const numbers = ids.map(BigInt)
  const age = Date.now() - new FlakeId().decode(numbers[0]).timestamp
  if (numbers[0] >= numbers[1] || numbers[1] >= numbers[2]) return `the IDs are not in order: ${ids}`
  if (Math.abs(age) > 60_000) return `an ID that is ${age} ms old`
  if (node !== 5) return `node number ${node} instead of 5`
  if (unique !== 1_000_000) return `${unique} different IDs of 1000000`
  if (files !== 'ERR_FLAKE_FILE') return `a file gives ${files} instead of ERR_FLAKE_FILE`
  if (isolated !== isIsolated) return `the page is ${isolated ? '' : 'not '}isolated`
}

async function checkPage(name, dist, headers, report) {
  let resolve
  const promise = new Promise((answered) => {
    resolve = answered
  })
  const server = await serve(dist, headers, resolve)
  try {
    const { answer, said } = await withPage(`http://127.0.0.1:${server.address().port}/`, promise)
    const fault = faultOf(answer, headers === ISOLATING)
    report(name, { ok: fault === undefined, output: `${fault}\n${JSON.stringify(answer)}\n${said}` })
    const warnings = said.match(/FLAKEFORGE_WASM/g) ?? []
    report(`${name}: says once that it is WebAssembly`, { ok: warnings.length === 1, output: said })
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** A missing requirement is a failure where everything must be installed. */
function skip(report, why) {
  report(`browser: skipped, ${why}`, { ok: process.env.FLAKEFORGE_REQUIRE_SERVERS !== '1', output: why })
}

module.exports = async function check(report) {
  if (chromium() === '') return skip(report, 'there is no chromium')
  if (!fs.existsSync(PACKAGE)) return skip(report, '`npm run platforms -- wasm32-wasi` has not been run')
  const folder = project(__dirname)
  fs.cpSync(PACKAGE, path.join(folder, 'node_modules', '@flakeforge/binding-wasm32-wasi'), { recursive: true })
  const built = run('npx', ['vite', 'build', '--outDir', 'dist'], folder)
  report('browser: vite build', built)
  if (!built.ok) return
  const dist = path.join(folder, 'dist')
  await checkPage('browser: Chromium, page isolated', dist, ISOLATING, report)
  await checkPage('browser: Chromium, any page', dist, {}, report)
}
