// A process uses either binaries or the WebAssembly, in all its threads: whichever comes second is rejected, and the
// error names both. Where the WebAssembly is not built, the sign that it leaves in a process replaces it.

import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { addon as binary } from '../support/load.mjs'
import { onWasm, wasm } from '../support/wasm.mjs'

const root = path.join(import.meta.dirname, '..', '..')
const program = path.join(root, '__test__', 'workers', 'either.cjs')

/** The steps of a program: which thread loads what. */
const inMain = (addon) => ({ thread: 'main', addon })
const inWorker = (addon) => ({ thread: 'worker', addon })

let folder
/** Where the sign replaces the WebAssembly: a file of its name. */
let module

test.before(() => {
  folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-either-')))
  module = path.join(folder, 'flakeforge.wasm32-wasi.wasm')
  fs.writeFileSync(module, '')
})

test.after.always(() => fs.rmSync(folder, { recursive: true, force: true }))

/** The result of each step, in a separate process. */
async function run(...steps) {
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(steps)])
  return JSON.parse(stdout)
}

/** That it was rejected, with both files named. */
function refused(t, { message, code }, ...files) {
  t.true(code === undefined || code === 'ERR_FLAKE_LOAD', code)
  for (const file of files) t.true(message?.includes(file), `${message}: ${file}`)
  t.regex(message, /cannot share node numbers with it, so both could generate the same IDs/)
}

test('a binary is rejected in every thread of a process that runs the WebAssembly, and only there', async (t) => {
  const [, worker, main, , later] = await run(
    { sign: module },
    inWorker(binary),
    inMain(binary),
    { noSign: true },
    inWorker(binary),
  )
  for (const answer of [worker, main]) {
    refused(t, answer, module, binary)
    t.is(answer.code, 'ERR_FLAKE_LOAD')
  }
  t.is(later, 'loaded')
})

test('a file of the WebAssembly that is only read, or that the parent process runs, is not a sign', async (t) => {
  t.deepEqual(await run({ open: module }, inWorker(binary)), ['loaded', 'loaded'])
  // On Linux children do not inherit the sign. Elsewhere it is in their environment, with the number of another process.
  const env = { ...process.env, _FLAKEFORGE_WASM: `${process.pid} ${module}` }
  const args = [program, JSON.stringify([inMain(binary)])]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  t.deepEqual(JSON.parse(stdout), ['loaded'])
})

test('the WebAssembly is rejected where an ended worker thread had loaded a binary, whatever its name', async (t) => {
  const other = path.join(folder, 'a1b2c3.node')
  fs.copyFileSync(binary, other)
  const [worker, answer] = await run(inWorker(other), { look: module })
  t.is(worker, 'loaded')
  refused(t, answer, module, other)
  const [before] = await run({ look: module })
  t.is(before, 'loaded')
})

onWasm(
  'the main thread runs the WebAssembly: a worker with a binary is rejected, one with the WebAssembly is not',
  async (t) => {
    const [main, native, worker] = await run(inMain(wasm), inWorker(binary), inWorker(wasm))
    t.deepEqual([main, worker], ['loaded', 'loaded'])
    refused(t, native, binary, path.dirname(wasm))
    t.is(native.code, 'ERR_FLAKE_LOAD')
  },
)

onWasm('a thread has loaded a binary: the WebAssembly is rejected in the main thread and in workers', async (t) => {
  for (const first of [inMain(binary), inWorker(binary)]) {
    const [native, ...others] = await run(first, inWorker(wasm), ...(first.thread === 'main' ? [] : [inMain(wasm)]))
    t.is(native, 'loaded')
    for (const answer of others) {
      refused(t, answer, binary, path.dirname(wasm))
      t.is(answer.code, 'ERR_FLAKE_LOAD')
    }
  }
})

onWasm('a rejected one leaves no sign: binaries still load', async (t) => {
  const answers = await run(inWorker(binary), inMain(wasm), inWorker(binary))
  t.deepEqual([answers[0], answers[1].code, answers[2]], ['loaded', 'ERR_FLAKE_LOAD', 'loaded'])
})
