'use strict'

// A disk that is slow for one process: each sync takes longer. strace holds them up, since few kernels can delay a disk
// (dm-delay). It must never change what a sync does, and must end with an error if it did not happen.

const { spawn } = require('node:child_process')
const { once } = require('node:events')

/** Until the function that it gives is called, each sync of a process takes so much longer. */
function slowDisk(pid, delayMs) {
  const delay = `inject=fsync,fdatasync:delay_enter=${Math.round(delayMs)}ms`
  const options = ['-f', '-p', String(pid), '-e', 'trace=fsync,fdatasync', '-e', delay]
  const strace = spawn('strace', options, { stdio: 'ignore' })
  const ended = once(strace, 'exit')
  return async () => {
    if (strace.exitCode !== null) throw new Error(`strace could not hold up the syncs of process ${pid}`)
    strace.kill('SIGINT')
    await ended
  }
}

module.exports = { slowDisk }
