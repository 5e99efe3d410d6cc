// Processes that a test controls call by call, folders on a disk and in memory for their files, and a clock for each.

import { fork } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { limited, once } from './waits.mjs'

const require = createRequire(import.meta.url)
const { Clock, NEEDS, canSetClocks } = require('../../lab/chaos/faults/clock.js')

const SCRIPT = fileURLToPath(new URL('../workers/puppet.cjs', import.meta.url))
const TMPFS = 0x01021994
const SHARED_MEMORY = '/dev/shm'
const BUILD = fileURLToPath(new URL('../../target', import.meta.url))

/** Where files in use stay, and processes cannot be stopped. */
export const isWindows = process.platform === 'win32'

/** Whether a slot or file can be reused at once: where nothing identifies the boot, that takes up to 5 s. */
export const identifiesBoot = !isWindows

/** A message instead of a test that only makes sense on another system. */
export const notOnWindows = (t, why) => t.log(`SKIPPED: ${why} on Windows`) || t.pass()

/** Asserts that Windows does not allow this for a file in use. */
export function isKept(t, call, what) {
  const error = t.throws(call, undefined, what)
  t.regex(error?.code ?? '', /^(?:EPERM|EBUSY|EACCES)$/, what)
}

const isTmpfs = (folder) => fs.existsSync(folder) && fs.statfsSync(folder).type === TMPFS

function folderIn(t, parent) {
  fs.mkdirSync(parent, { recursive: true })
  const folder = fs.mkdtempSync(path.join(parent, 'flakeforge-test-'))
  t.teardown(() => removeFolder(folder))
  return folder
}

/**
 * Windows refuses to remove files that this process still has open or mapped. Then they stay in the temporary folder.
 */
function removeFolder(folder) {
  try {
    fs.rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (!isWindows) throw error
  }
}

/** A folder on a disk, removed when the test is over. */
export const diskFolder = (t) => folderIn(t, isTmpfs(os.tmpdir()) ? BUILD : os.tmpdir())

/** Where files are tested: on a disk, and in memory where there is such a file system. */
export const PLACES = { disk: diskFolder, ...(isTmpfs(SHARED_MEMORY) && { tmpfs: (t) => folderIn(t, SHARED_MEMORY) }) }

/** A process that generates IDs on request; ended when the test is over. */
export class Puppet {
  #child
  #answered
  #queue = Promise.resolve()

  /** `offsetMs`: how far its clock is ahead. */
  constructor(t, { offsetMs = 0, env = {} } = {}) {
    const clock = offsetMs === 0 ? {} : new Clock(offsetMs).environment
    this.#child = fork(SCRIPT, { env: { ...process.env, ...clock, ...env } })
    this.#child.on('message', (message) => this.#answered(message))
    this.#child.on('exit', (code, signal) => {
      this.#answered?.({ error: { message: `the process ended with ${signal ?? code}` } })
    })
    t.teardown(() => this.kill())
  }

  get pid() {
    return this.#child.pid
  }

  /** Makes a call there and returns its result; throws its error, with the same fields. */
  call(...message) {
    const answer = this.#queue.then(() => this.#ask(message))
    this.#queue = answer.catch(() => {})
    return answer
  }

  async #ask(message) {
    const answer = new Promise((resolve) => {
      this.#answered = resolve
      this.#child.send(message, (failed) => failed && resolve({ error: { message: failed.message } }))
    })
    const { value, error } = await limited(answer, () => `the answer to ${message[0]} of process ${this.pid}`)
    if (error !== undefined) throw Object.assign(new Error(error.message), error)
    return value
  }

  async take(n) {
    return (await this.call('take', n)).map(BigInt)
  }

  stop() {
    this.#child.kill('SIGSTOP')
  }

  resume() {
    this.#child.kill('SIGCONT')
  }

  /** kill -9. */
  async kill() {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
}

/** A process that has joined a group in this folder, and its slot. */
export async function joinedPuppet(t, folder, options = {}) {
  const puppet = new Puppet(t)
  puppet.slot = await puppet.call('join', `file:${folder}`, options)
  return puppet
}

/** Whether clocks can be set here; where they must be, their absence is an error of the test. */
export const hasClock = canSetClocks || process.env.FLAKEFORGE_REQUIRE_SERVERS === '1'

/** A message instead of a test that sets clocks. */
export const withoutClock = (t) => t.log(`SKIPPED: no clock was set: that needs ${NEEDS}`) || t.pass()

/** Whether this process may do what only the superuser may. */
export const isRoot = process.getuid?.() === 0
