'use strict'

// What goes wrong, as a sentence or two on stderr and an exit status: 2 where the command line is wrong and nothing was
// done, 1 where the command failed. It must never hide a bug, whose stack is wanted.

const { say } = require('./output.js')

const [FAILURE, USAGE] = [1, 2]

/** The command line is wrong. */
const usageError = (message) => Object.assign(new Error(message), { exitCode: USAGE })

/** The command was understood, and failed. */
const failure = (message) => Object.assign(new Error(message), { exitCode: FAILURE })

/** The exit status of an error, or undefined for a bug. An option may have come from the environment, too. */
function statusOf({ exitCode, code, syscall }) {
  if (exitCode !== undefined) return exitCode
  if (code === 'ERR_FLAKE_OPTION') return USAGE
  return code?.startsWith?.('ERR_FLAKE_') || syscall !== undefined ? FAILURE : undefined
}

/** The message, and the cause where that does not tell it: why a server could not be reached, for example. */
function textOf(error) {
  const [text, why] = [inFlags(error), error.cause?.message?.split('\n')[0]]
  return why && !text.includes(why) ? `${text.replace(/\.$/, '')} (${why}).` : text
}

/** Errors of the library call an option by its name there; people have typed a flag. */
function inFlags({ message, code, option }) {
  const text = message.replaceAll(/\s*\n\s*/g, ' ')
  if (code !== 'ERR_FLAKE_OPTION' || !text.startsWith(`${option} `)) return text
  const { apiName } = require('./options.js')
  const typed = process.argv.slice(2).map((arg) => /^--([^=]+)/.exec(arg)?.[1])
  const flag = typed.find((name) => name !== undefined && apiName(name) === option)
  return flag === undefined ? text : `--${flag}${text.slice(option.length)}`
}

function report(error) {
  if (error.signal !== undefined) return process.kill(process.pid, error.signal) // whoever waits for us sees which
  const status = statusOf(error)
  process.exitCode = status ?? FAILURE
  if (status === 0) return
  if (status !== undefined) return say(textOf(error))
  say(`This is a bug in flakeforge. Please report it at ${require('../../package.json').bugs} with these lines:`)
  console.error(error)
}

module.exports = { failure, report, usageError }
