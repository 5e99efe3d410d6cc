'use strict'

// Gives a process that is about to start another clock, with libfaketime (Debian: faketime). Only the wall clock is moved.
// Timers and durations use the monotonic clock, as they do when an administrator sets the time.

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')

const SHARED_MEMORY = '/dev/shm'
const LONGEST_START_MS = 1000

/**
 * The library; undefined if it is not installed, and under AddressSanitizer (`npm run memcheck`): together the two wait
 * for each other forever when a program starts. This is the variant for programs with threads, such as Node.
 */
const library = /asan/.test(process.env.LD_PRELOAD) ? undefined : findLibrary()

function findLibrary() {
  const folders = listOf('/usr/lib').map((name) => path.join('/usr/lib', name))
  return ['/usr/lib', '/usr/local/lib', ...folders]
    .map((folder) => path.join(folder, 'faketime', 'libfaketimeMT.so.1'))
    .find((file) => fs.existsSync(file))
}

function listOf(folder) {
  return fs.existsSync(folder) ? fs.readdirSync(folder) : []
}

/** The environment variables that make a process's clock differ from ours by this many ms. */
function environment(offsetMs) {
  if (offsetMs === 0) return {}
  const seconds = (offsetMs / 1000).toFixed(3)
  return {
    LD_PRELOAD: library,
    FAKETIME: offsetMs > 0 ? `+${seconds}` : seconds,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
}

const leftovers = (pid) =>
  [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`].map((name) => path.join(SHARED_MEMORY, name))

/**
 * Waits until the library has set up what it shares with nobody. A process that is killed before leaves a semaphore under
 * a random name, which nobody could ever attribute and remove.
 */
async function isSetUp(pid) {
  const given = performance.now() + LONGEST_START_MS
  while (!leftovers(pid).every((file) => fs.existsSync(file)) && performance.now() < given) await sleep(1)
}

/** Removes what the library leaves when its process is killed. A later process with the same ID would wait for it. */
function cleanUp(pid) {
  for (const file of leftovers(pid)) fs.rmSync(file, { force: true })
}

module.exports = { library, environment, isSetUp, cleanUp }
