'use strict'

// Runs commands of `flakeforge` for support/command.mjs, one after the other, in one process: starting Node.js for each
// takes longer than most of them. Each gets the program again (not its parts, which are loaded with it), and its own
// arguments, stdout, stderr and exit status. It is done when a separate process would end: when nothing is left to wait
// for. Commands that hold a slot or a file, or read stdin, need a separate process.

const [program] = process.argv.slice(2)

let output

for (const name of ['stdout', 'stderr']) {
  process[name].write = (text, ...rest) => {
    output[name] += text
    const done = rest.find((each) => typeof each === 'function')
    if (done !== undefined) process.nextTick(done)
    return true
  }
}

function answer() {
  process.send({ code: process.exitCode ?? 0, signal: null, ...output })
  process.exitCode = undefined
  process.removeAllListeners('beforeExit')
  process.removeAllListeners('warning')
  process.stdout.removeAllListeners('error')
  process.channel.ref() // for the next command
}

process.on('message', (args) => {
  process.channel.unref() // or this process would always have something to wait for
  output = { stdout: '', stderr: '' }
  process.argv = [process.argv[0], program, ...args]
  delete require.cache[program]
  require(program)
  process.once('beforeExit', answer) // after the command's own listener, which reports unfinished work
})
