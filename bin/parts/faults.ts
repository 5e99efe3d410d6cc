// Reports errors, as a sentence or two on stderr and an exit status: 2 if the command line is invalid and nothing was done, 1
// if the command failed. For bugs it shows the stack.

import packageJson from '../../package.json'
import { say, sayStack } from './output.ts'

/** An error: ours, the library's or Node's. */
export type Fault = Error & {
  exitCode?: number
  code?: string
  syscall?: string
  option?: string
  signal?: NodeJS.Signals
}

const [FAILURE, USAGE] = [1, 2]

/** The command line is invalid. */
export const usageError = (message: string) => Object.assign(new Error(message), { exitCode: USAGE })

/** The command was valid, and failed. */
export const failure = (message: string) => Object.assign(new Error(message), { exitCode: FAILURE })

/** The exit status of an error, or undefined for a bug. An invalid option may also come from the environment. */
function statusOf({ exitCode, code, syscall }: Partial<Fault>) {
  if (exitCode !== undefined) return exitCode
  if (code === 'ERR_FLAKE_OPTION') return USAGE
  return code?.startsWith?.('ERR_FLAKE_') || syscall !== undefined ? FAILURE : undefined
}

/** The message, plus the cause if the message does not include it, such as why a server is unreachable. */
function textOf(error: Fault) {
  const [text, why] = [inFlags(error), causeOf(error)?.message?.split('\n')[0]]
  return why && !text.includes(why) ? `${text.replace(/\.$/, '')} (${why}).` : text
}

const causeOf = ({ cause }: Fault) => cause as Partial<Error> | undefined

/** Whether a flag sets this option of the library: `--node-offset` sets nodeOffset, and `--ttl`, which is in ms, ttlMs. */
function isNameOf(flag: string, option: string) {
  const name = flag.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())
  return option === name || option === `${name}Ms`
}

/** Replaces the library's names of options in its errors by the flags that the user typed. */
function inFlags({ message, code, option }: Fault) {
  const text = message.replaceAll(/(?<!\s)\s*\n\s*/g, ' ')
  if (code !== 'ERR_FLAKE_OPTION' || option === undefined || !text.startsWith(`${option} `)) return text
  const typed = process.argv.slice(2).map((arg) => /^--([^=]+)/.exec(arg)?.[1])
  const flag = typed.find((name) => name !== undefined && isNameOf(name, option))
  return flag === undefined ? text : `--${flag}${text.slice(option.length)}`
}

const SIGNALS: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * The result of some work, or after a signal such as Ctrl-C an error with it: then the caller tidies up, and `report` ends the
 * process by that signal. A second signal ends it at once.
 */
export async function untilStopped<T>(work: Promise<T>): Promise<T> {
  let stop: (signal: NodeJS.Signals) => void = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = (signal) => reject(Object.assign(new Error(signal), { signal }))
  })
  for (const signal of SIGNALS) process.once(signal, stop)
  try {
    return await Promise.race([work, stopped])
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop)
  }
}

export function report(error: Fault) {
  if (error.signal !== undefined) return process.kill(process.pid, error.signal) // so that our parent sees which signal
  const status = statusOf(error)
  process.exitCode = status ?? FAILURE
  if (status === 0) return
  if (status !== undefined) return say(textOf(error))
  say(`This is a bug in flakeforge. Please report it at ${packageJson.bugs} with these lines:`)
  sayStack(error.stack ?? String(error))
}
