// Pauses a process: it exists, keeps its connections, and answers nothing.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { until } from './waits.mjs'

/**
 * Sends SIGSTOP, and waits until all threads have stopped. The signal stops them one after the other: on a busy machine
 * one of them may still answer a later request. SIGCONT resumes the process.
 */
export async function stopProcess(pid) {
  process.kill(pid, 'SIGSTOP')
  await until(() => statesOf(pid).every((state) => state.startsWith('T')), { everyMs: 1 })
}

/** States as in `ps`: T is stopped. */
const statesOf = process.platform === 'linux' ? statesOfThreads : (pid) => [statesByPs(pid)]

const statesByPs = (pid) => execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })

function statesOfThreads(pid) {
  const folder = `/proc/${pid}/task`
  return fs.readdirSync(folder).map((thread) => stateIn(`${folder}/${thread}/status`))
}

/** A thread may end before it is checked. */
function stateIn(file) {
  try {
    return /^State:\s*(\S)/m.exec(fs.readFileSync(file, 'utf8'))[1]
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error
    return 'ended'
  }
}
