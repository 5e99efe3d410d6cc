'use strict'
// @ts-check

// Reports what goes wrong, as a sentence or two on stderr and an exit status: 2 if the command line is wrong and
// nothing was done, 1 if the command failed. It must never hide a bug: for those it shows the stack.

const { say } = require('./output.js')

/**
 * An error as they come here: ours, the library's or Node's.
 * @typedef {Error & { exitCode?: number, code?: string, syscall?: string, option?: string, signal?: NodeJS.Signals }} Fault
 */

const [FAILURE, USAGE] = [1, 2]

/**
 * The command line is wrong.
 * @param {string} message
 */
const usageError = (message) => Object.assign(new Error(message), { exitCode: USAGE })

/**
 * The command was understood, and failed.
 * @param {string} message
 */
const failure = (message) => Object.assign(new Error(message), { exitCode: FAILURE })

/**
 * The exit status of an error, or undefined for a bug. A bad option may also come from the environment.
 * @param {Partial<Fault>} error
 */
function statusOf({ exitCode, code, syscall }) {
  if (exitCode !== undefined) return exitCode
  if (code === 'ERR_FLAKE_OPTION') return USAGE
  return code?.startsWith?.('ERR_FLAKE_') || syscall !== undefined ? FAILURE : undefined
}

/**
 * The message, plus the cause if the message does not include it: why a server could not be reached, for example.
 * @param {Fault} error
 */
function textOf(error) {
  const [text, why] = [inFlags(error), causeOf(error)?.message?.split('\n')[0]]
  return why && !text.includes(why) ? `${text.replace(/\.$/, '')} (${why}).` : text
}

/** @param {Fault} error */
const causeOf = ({ cause }) => /** @type {Partial<Error> | undefined} */ (cause)

/**
 * Errors of the library use an option's name in the library; people have typed a flag.
 * @param {Fault} error
 */
function inFlags({ message, code, option }) {
  const text = message.replaceAll(/\s*\n\s*/g, ' ')
  if (code !== 'ERR_FLAKE_OPTION' || option === undefined || !text.startsWith(`${option} `)) return text
  const { apiName } = require('./options.js')
  const typed = process.argv.slice(2).map((arg) => /^--([^=]+)/.exec(arg)?.[1])
  const flag = typed.find((name) => name !== undefined && apiName(name) === option)
  return flag === undefined ? text : `--${flag}${text.slice(option.length)}`
}

/** @param {Fault} error */
function report(error) {
  if (error.signal !== undefined) return process.kill(process.pid, error.signal) // so that our parent sees which signal
  const status = statusOf(error)
  process.exitCode = status ?? FAILURE
  if (status === 0) return
  if (status !== undefined) return say(textOf(error))
  say(`This is a bug in flakeforge. Please report it at ${require('../../package.json').bugs} with these lines:`)
  console.error(error)
}

module.exports = { failure, report, usageError }
