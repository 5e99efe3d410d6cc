// Writes to stdout and stderr, and keeps at most a batch of text in memory.

import { styleText } from 'node:util'
import { addressesIn } from '../../lib/base/addresses.ts'
import { printable, withoutSecrets, withoutSecretsIn } from '../../lib/base/printable.ts'

process.stdout.on('error', () => {}) // print() throws it

/**
 * Writes, and waits until it is written. So only this text is in memory, and the caller gets any error. If the reader closes
 * the pipe (`| head`), that is an error too, so that the command ends; its exit status is 0.
 */
export async function print(text: string) {
  try {
    await written(text)
  } catch (cause) {
    const error = cause as NodeJS.ErrnoException
    throw error.code === 'EPIPE' ? Object.assign(error, { exitCode: 0 }) : error
  }
}

const written = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })

/** A sentence or two on stderr, without passwords from any source. */
export const say = (text: string) => process.stderr.write(`flakeforge: ${printable(safe(text))}\n`)

/** The stack of a bug, line by line. */
export const sayStack = (text: string) =>
  process.stderr.write(safe(text).split('\n').map(printable).join('\n').concat('\n'))

/** Hides passwords that were typed, even in a text that does not look like an address. */
function safe(text: string) {
  const given = [...process.argv.slice(2), ...addressesIn(process.env.FLAKEFORGE_STORE ?? '')]
  const known = given.filter((word) => word !== '' && withoutSecrets(word) !== word)
  return withoutSecretsIn(known.reduce((shown, word) => shown.replaceAll(word, withoutSecrets(word)), text))
}

/** FORCE_COLOR first, as in Node itself; then NO_COLOR and TERM, which hasColors() reads. A pipe has no colours. */
function isColoured({ FORCE_COLOR } = process.env) {
  if (styleText === undefined) return false // Node before 20.12
  if (FORCE_COLOR !== undefined) return !['0', 'false'].includes(FORCE_COLOR)
  return Boolean(process.stdout.isTTY) && process.stdout.hasColors()
}

const coloured = isColoured()

/** Whether to use colours is already decided: newer versions of Node would check again. */
export const paint = (colour: 'red' | 'green' | 'cyan' | 'yellow' | 'magenta', text: string) =>
  coloured ? styleText(colour, text, { validateStream: false }) : text

/** Formats warnings of the library, such as why join() waits, like the rest of this command's output. */
export function sayWarnings() {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    const { code, message, stack } = warning as NodeJS.ErrnoException
    say(code?.startsWith('FLAKEFORGE_') ? message : `${stack}`)
  })
}
