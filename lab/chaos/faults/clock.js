'use strict'

// A clock for a program that is about to start, and for its children. It may be set while they run. Only the wall clock
// moves, as if an administrator set the time. clock.c explains how; it is compiled when the first clock is created.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const SOURCE = path.join(__dirname, 'clock.c')
/** glibc, on the CPUs that clock.c knows. */
const LOADERS = { x64: '/lib64/ld-linux-x86-64.so.2', arm64: '/lib/ld-linux-aarch64.so.1' }
/** The requirements for setting clocks on a machine. */
const NEEDS = 'Linux with glibc on x86-64 or arm64, and cc'
const NS_PER_MS = 1_000_000

const isInPath = (program) =>
  process.env.PATH.split(path.delimiter).some((folder) => fs.existsSync(path.join(folder, program)))

/** Whether clocks can be set here. AddressSanitizer (`npm run memcheck`) must be preloaded first. */
const canSetClocks =
  fs.existsSync(LOADERS[process.arch] ?? '') && isInPath('cc') && !/asan/.test(process.env.LD_PRELOAD)

/** For the library and the clocks' files. */
let folder
let clocks = 0

function compile() {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-clocks-'))
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  fs.chmodSync(folder, 0o755) // PostgreSQL runs as another user
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', path.join(folder, 'clock.so'), SOURCE, '-ldl'])
}

class Clock {
  #file
  /** The environment variables of a program with this clock. */
  environment = {}
  offsetMs = 0

  /** @param {number} [offsetMs] how far it is ahead of ours */
  constructor(offsetMs = 0) {
    if (canSetClocks) this.#make()
    this.set(offsetMs)
  }

  #make() {
    if (folder === undefined) compile()
    this.#file = path.join(folder, `clock-${++clocks}`)
    this.environment = { LD_PRELOAD: path.join(folder, 'clock.so'), CLOCK_FILE: this.#file }
  }

  set(offsetMs) {
    if (canSetClocks) writeOffset(this.#file, offsetMs)
    else if (offsetMs !== 0) throw new Error(`no clock can be set here: that needs ${NEEDS}`)
    this.offsetMs = offsetMs
  }
}

/** In place, without emptying the file first: programs have it mapped. */
function writeOffset(file, offsetMs) {
  const ns = Buffer.alloc(8)
  ns.writeBigInt64LE(BigInt(Math.round(offsetMs * NS_PER_MS)))
  const opened = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_CREAT)
  fs.writeSync(opened, ns)
  fs.closeSync(opened)
}

/** An offset of at most this much, usually a large one: clocks that nearly agree prove little. */
const offsetWithin = (furthestMs) => Math.round((Math.random() < 0.5 ? -1 : 1) * Math.sqrt(Math.random()) * furthestMs)

module.exports = { Clock, NEEDS, canSetClocks, offsetWithin, writeOffset }
