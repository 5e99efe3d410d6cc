'use strict'

// A disk that is slow for one process: each sync takes longer. strace delays them, since few kernels can delay a disk
// (dm-delay). The result of a sync stays the same.

const { spawn } = require('node:child_process')
const { once } = require('node:events')

/** From now on each sync of a process takes this much longer, until the returned function is called. */
async function slowDisk(pid, delayMs) {
  const delay = `inject=fsync,fdatasync:delay_enter=${Math.round(delayMs)}ms`
  const options = ['-f', '-p', String(pid), '-e', 'trace=fsync,fdatasync', '-e', delay]
  const strace = spawn('strace', options, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(strace, 'exit')
  const [told] = await once(strace.stderr.setEncoding('utf8'), 'data')
  if (!told.includes('attached')) throw new Error(`no disk is slow: ${told}`)
  strace.stderr.resume()
  return async () => {
    strace.kill('SIGINT')
    await ended
  }
}

module.exports = { slowDisk }
