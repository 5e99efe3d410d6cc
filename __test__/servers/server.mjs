// A real server for tests: started on a free loopback port with its data in a separate folder, stopped and removed
// after the tests. A server that is not installed is a loud skip, and a failure where FLAKEFORGE_REQUIRE_SERVERS=1. A
// server that was running before is never touched.

import { spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export { until } from '../support/waits.mjs'

const READY_MS = 30_000

/**
 * Below the ports that systems use for outgoing connections: one of those could take a server's port while it restarts.
 */
const FIRST_PORT = 10_000
const PORTS = 100 // of a process
const PROCESSES = 200 // that have different ports
let range // a promise: the first of this process's ports
let taken = 0

/** A port that nothing listens on, and that no other test will use. */
export async function freePort() {
  range ??= claimRange()
  const first = await range
  for (let i = 1; i < PORTS; i++) {
    const port = first + 1 + (taken++ % (PORTS - 1))
    if (await isFree(port)) return port
  }
  throw new Error(`all ${PORTS} ports of this process are in use`)
}

/** Listens on the first port of a range as long as this process runs, so that no other process gets a port of it. */
async function claimRange() {
  for (let i = 0; i < PROCESSES; i++) {
    const first = FIRST_PORT + ((process.pid + i) % PROCESSES) * PORTS
    const claim = createServer().unref()
    if (await listens(claim, first)) return first
  }
  throw new Error(`all ${PROCESSES} ranges of ports are in use`)
}

async function isFree(port) {
  const probe = createServer()
  if (!(await listens(probe, port))) return false
  await new Promise((resolve) => probe.close(resolve))
  return true
}

function listens(server, port) {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => resolve(true))
  })
}

/** This machine. Another one has its own address, a way to run a command there, and maybe variables for servers. */
export const HERE = { host: '127.0.0.1', inside: (command) => command }

/** A command that gives a program these environment variables, if there are any, and becomes it. */
export function withVariables(variables, command) {
  const words = Object.entries(variables ?? {}).map(([name, value]) => `${name}=${value}`)
  return words.length === 0 ? command : ['env', ...words, ...command]
}

const folders = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** A new empty folder, in the folder for temporary files. It is removed at the latest when this process ends. */
export async function freshFolder(name) {
  const folder = await mkdtemp(join(tmpdir(), `flakeforge-${name}-`))
  folders.push(folder)
  return folder
}

/** The full path of a program, looked for in PATH and then in `places`; undefined if it is not found. */
export const findProgram = (name, places = []) =>
  [...process.env.PATH.split(delimiter), ...places].map((folder) => join(folder, name)).find((path) => existsSync(path))

/**
 * Whether a server's tests can run: its program, or undefined with a loud message. Where servers are required, an
 * error.
 */
export function wantProgram(name, places) {
  const program = findProgram(name, places)
  if (program !== undefined) return program
  const message = `${name} is not installed: its tests do not run`
  if (process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') throw new Error(message)
  console.warn(`\n!!! SKIPPED: ${message} !!!\n`)
}

/** Starts a command that ends with this process, even if that is killed, where the system has setpriv (Linux). */
const TIED = findProgram('setpriv') === undefined ? [] : ['setpriv', '--pdeathsig=KILL']

/** Stops a server when the test is over. */
export function stopAfter(t, server) {
  t.teardown(() => server.stop())
  return server
}

/** Servers with a process or data: a test run that ends early must not leave them behind. */
const present = new Set()
process.once('exit', () => {
  for (const server of present) server.abandon()
})

/** A server process: `start()` resolves once `isReady()` has, `kill(signal)` ends it, `stop()` also removes its folder. */
export class Server {
  #child
  #output = ''

  /**
   * @param {{ command: string[], folder: string, isReady: () => Promise<unknown>, readyMs?: number }} options `isReady`
   * throws until the server answers, which it has to within `readyMs`
   */
  constructor({ command, folder, isReady, readyMs = READY_MS }) {
    Object.assign(this, { command, folder, isReady, readyMs })
  }

  async start() {
    const [program, ...args] = TIED.length === 0 ? this.command : [...TIED, '--', ...this.command]
    const child = spawn(program, args, { cwd: this.folder, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    present.add(this)
    this.#output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        this.#output = (this.#output + text).slice(-4000)
      })
    }
    let ended
    child.once('error', (error) => {
      ended = error
    })
    child.once('exit', (code, signal) => {
      ended = new Error(`${this.command[0]} ended with ${signal ?? code}:\n${this.#output}`)
    })
    for (const start = Date.now(); ; await sleep(20)) {
      try {
        await this.isReady()
        return this
      } catch (error) {
        if (ended) throw ended
        if (Date.now() - start > this.readyMs)
          throw new Error(`${this.command[0]} does not answer:\n${this.#output}`, { cause: error })
      }
    }
  }

  get pid() {
    return this.#child?.pid
  }

  /** Ends the process and waits until it is gone; its data stays, and `start()` starts it again. */
  async kill(signal = 'SIGKILL') {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }

  /** At once, for a process that is about to exit. */
  abandon() {
    this.#child.kill('SIGKILL') // nothing, if it has ended
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 })
  }

  async stop() {
    await this.kill()
    present.delete(this)
    await rm(this.folder, { recursive: true, force: true })
  }
}
