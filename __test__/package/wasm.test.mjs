// The WebAssembly in Node.js, in separate processes. They take it from NAPI_RS_NATIVE_LIBRARY_PATH, as `npm run
// platforms` does, or from where that leaves it. If it is not built, that is a loud skip: a separate job builds it.

import { spawn, spawnSync } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { once } from '../support/waits.mjs'
import { wasm as addon, onWasm } from '../support/wasm.mjs'

const root = path.join(import.meta.dirname, '..', '..')

/** A program that does nothing for so long hangs. */
const QUIET_MS = 100_000

/** The JSON output of a program that has `FlakeId`. It must exit without help. */
function run(t, code) {
  const program = `const FlakeId = require(${JSON.stringify(root)})\n${code}`
  const env = { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: addon }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
    env,
    encoding: 'utf8',
    timeout: QUIET_MS,
  })
  t.is(status, 0, stderr)
  return JSON.parse(stdout)
}

/** A layout with which all IDs of a test fall into one or two ticks. */
const SLOW =
  "const slow = { tickMs: 3_600_000, epoch: 0, fields: [['zero', 1], ['timestamp', 31], ['node', 10], ['counter', 22]] };"

const WORKERS = `
${SLOW}
const { Worker } = require('node:worker_threads')
/** Runs code in as many threads, and returns what each sends. */
const inWorkers = (count, code) => Promise.all(Array.from({ length: count }, () => new Promise((resolve, reject) => {
  const worker = new Worker('const { parentPort } = require("node:worker_threads");' + code, { eval: true })
  worker.once('message', resolve).once('error', reject)
})))
const load = ${JSON.stringify(`const FlakeId = require(${JSON.stringify(root)}); ${SLOW}`)}
`

// The ticks of these tests are long, so that two cursors would generate equal IDs.
onWasm('threads share the cursors of one memory', (t) => {
  const { all, unique } = run(
    t,
    `${WORKERS}
    const mine = new FlakeId({ id: 7, layout: slow })
    const make = 'const flake = new FlakeId({ id: 7, layout: slow });' +
      'parentPort.postMessage(Array.from({ length: 800 }, () => flake.next().toString("hex")))'
    const threads = inWorkers(4, load + make)
    const ids = Array.from({ length: 800 }, () => mine.next().toString('hex'))
    threads.then((others) => {
      const all = [...ids, ...others.flat()]
      console.log(JSON.stringify({ all: all.length, unique: new Set(all).size }))
    })`,
  )
  t.is(all, 4_000)
  t.is(unique, all)
})

onWasm('threads that create and drop generators at once keep the memory intact', (t) => {
  const made = run(
    t,
    `${WORKERS}
    const make = 'let n = 0; for (let i = 0; i < 3_000; i++) n += new FlakeId({ id: i % 1024 }).next().length;' +
      'parentPort.postMessage(n)'
    inWorkers(4, load + make).then((made) => console.log(JSON.stringify(made)))`,
  )
  t.deepEqual(made, [24_000, 24_000, 24_000, 24_000])
})

onWasm('slots of threads that have ended are reused', async (t) => {
  const program = `const FlakeId = require(${JSON.stringify(root)})
    ${WORKERS}
    const threads = async () => {
      for (let i = 0; i < 300; i += 4) console.log((await inWorkers(4, load + 'parentPort.postMessage(1)')).length)
    }
    threads()`
  const env = { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: addon }
  const child = spawn(process.execPath, ['-e', program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const exit = once(child, 'exit')
  t.timeout(QUIET_MS) // from one thread that ends to the next, however slow the machine is
  let ended = 0
  for await (const line of createInterface(child.stdout)) {
    ended += Number(line)
    t.timeout(QUIET_MS)
  }
  t.deepEqual([ended, await exit], [300, [0, null]])
})

onWasm('a worker of a main thread without flakeforge is rejected', (t) => {
  const code = `const { Worker } = require('node:worker_threads')
    new Worker(${JSON.stringify(`require(${JSON.stringify(root)})`)}, { eval: true })
      .on('error', ({ code, message }) => console.log(JSON.stringify({ code, message })))`
  const env = { ...process.env, NAPI_RS_NATIVE_LIBRARY_PATH: addon }
  const { stdout } = spawnSync(process.execPath, ['-e', code], { env, encoding: 'utf8', timeout: 100_000 })
  const { code: refused, message } = JSON.parse(stdout)
  t.is(refused, 'ERR_FLAKE_LOAD')
  t.regex(message, /require\('flakeforge'\) in the main program, before it starts the Worker/)
})

onWasm('a second copy in one thread has the same cursors', (t) => {
  const ids = run(
    t,
    `${SLOW}
    const first = new FlakeId({ id: 3, layout: slow }).takeBigInts(100)
    for (const file of Object.keys(require.cache)) delete require.cache[file]
    const { version } = require('./package.json')
    const made = globalThis[Symbol.for('flakeforge@' + version)]
    for (const part of Object.keys(made)) delete made[part] // as if the copy were of another version
    const again = require(${JSON.stringify(root)})
    if (again === FlakeId) throw new Error('the same copy')
    const second = new again({ id: 3, layout: slow }).takeBigInts(100)
    console.log(JSON.stringify([...first, ...second].map(String)))`,
  )
  t.is(new Set(ids).size, 200)
})

onWasm('files are rejected, by their name and with the alternatives', (t) => {
  const { code, message } = run(
    t,
    `try {
      new FlakeId({ id: 1, shared: '/tmp/ids' })
    } catch ({ code, message }) {
      console.log(JSON.stringify({ code, message }))
    }`,
  )
  t.is(code, 'ERR_FLAKE_FILE')
  t.regex(message, /\/tmp\/ids: cannot be used: .*new FlakeId\(\)/)
})

onWasm('many IDs go into arrays of JavaScript: more than fit through at once', (t) => {
  const { bytes, numbers, floats, texts, owned } = run(
    t,
    `const flake = new FlakeId({ id: 9, maxWaitMs: 60_000 })
    const bytes = flake.take(5_000)
    const numbers = flake.takeBigInts(5_000)
    const texts = flake.takeStrings(5_000, 'hex')
    const floats = new FlakeId({ layout: 'safe', node: 9 }).takeNumbers(5_000)
    console.log(JSON.stringify({
      bytes: new Set(Array.from({ length: 5_000 }, (_, i) => bytes.readBigUInt64BE(i * 8))).size,
      numbers: new Set(numbers).size,
      floats: new Set(floats.filter(Number.isSafeInteger)).size,
      texts: new Set(texts).size,
      owned: [bytes, numbers, floats, flake.next()].every(({ buffer }) => buffer instanceof ArrayBuffer),
    }))`,
  )
  t.deepEqual([bytes, numbers, floats, texts], [5_000, 5_000, 5_000, 5_000])
  t.true(owned)
})

onWasm('copies on one page share one memory, also if both start at once', (t) => {
  const page = pathToFileURL(path.join(path.dirname(addon), 'browser.js')).href
  const program = `
    import { readFileSync } from 'node:fs'
    const { Memory } = WebAssembly
    let made = 0
    WebAssembly.Memory = class extends Memory {
      constructor(limits) {
        super(limits)
        made++
      }
    }
    globalThis.fetch = async (file) => new Response(readFileSync(file))
    const copies = await Promise.all(['?one', '?two'].map((copy) => import(${JSON.stringify(page)} + copy)))
    const again = await import(${JSON.stringify(page)} + '?three')
    const ids = [...copies, again].map(({ FlakeId }) => new FlakeId({ id: 5 }).next().toString('hex'))
    console.log(JSON.stringify({ made, ids: new Set(ids).size }))`
  const options = { encoding: 'utf8', timeout: QUIET_MS, cwd: root }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], options)
  t.is(status, 0, stderr)
  t.deepEqual(JSON.parse(stdout), { made: 1, ids: 3 })
  t.is(stderr.split('FLAKEFORGE_WASM').length - 1, 1, 'it warns once')
})
