'use strict'

// Loads flakeforge in the threads of one process, one after the other, as the argument says: JSON of a list of `{
// thread, addon }`, `thread` is 'main' or 'worker', `addon` the file to load. `{ sign: FILE }` leaves the sign of the
// WebAssembly instead, and `{ noSign: true }` removes it; `{ look: FILE }` looks for binaries as the WebAssembly does;
// `{ open: FILE }` opens a file as any reader does. Prints JSON: for each, 'loaded', or the error's code and message.

const fs = require('node:fs')
const path = require('node:path')
const { once } = require('node:events')
const { isMainThread, parentPort, Worker, workerData } = require('node:worker_threads')

const root = path.join(__dirname, '..', '..')

/** The result of a call, as an object that threads can send. */
function outcome(call) {
  try {
    call()
    return 'loaded'
  } catch ({ code, message }) {
    return { code, message }
  }
}

function load(addon) {
  process.env.NAPI_RS_NATIVE_LIBRARY_PATH = addon
  ;new (require(root))().next()
}

async function inWorker(addon) {
  const worker = new Worker(__filename, { workerData: addon })
  const [[answer]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
  return answer
}

let takeSignAway

/** Every step that is not a thread. */
function other({ sign, noSign, look, open }) {
  const { insistOnNoBinary, leaveSign } = require('../../npm/wasm32-wasi/binaries.cjs')
  if (sign) takeSignAway = leaveSign(sign)
  if (noSign) takeSignAway()
  if (look) insistOnNoBinary(look)
  if (open) fs.openSync(open, 'r')
}

async function main(steps) {
  const answers = []
  for (const { thread, addon, ...rest } of steps) {
    if (thread === 'worker') answers.push(await inWorker(addon))
    else answers.push(outcome(() => (thread === 'main' ? load(addon) : other(rest))))
  }
  console.log(JSON.stringify(answers))
}

if (isMainThread) main(JSON.parse(process.argv[2]))
else parentPort.postMessage(outcome(() => load(workerData)))
