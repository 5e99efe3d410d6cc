'use strict'

// What goes to stdout and stderr. It must never keep more than a batch of text in memory.

const { styleText } = require('node:util')

process.stdout.on('error', () => {}) // print() throws it

/**
 * Writes, and waits until it is written: then no more than this text is in memory, and whoever prints hears of an error.
 * That the reader has seen enough (`| head`) is an error too, so that whatever is under way ends; its exit status is 0.
 */
async function print(text) {
  try {
    await new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
    })
  } catch (error) {
    throw error.code === 'EPIPE' ? Object.assign(error, { exitCode: 0 }) : error
  }
}

/** A sentence or two on stderr. */
const say = (text) => process.stderr.write(`flakeforge: ${text}\n`)

/** FORCE_COLOR first, as in Node itself; then NO_COLOR and TERM, which hasColors() reads. A pipe has no colours. */
function isColoured({ FORCE_COLOR } = process.env) {
  if (styleText === undefined) return false // Node before 20.12
  if (FORCE_COLOR !== undefined) return !['0', 'false'].includes(FORCE_COLOR)
  return Boolean(process.stdout.isTTY) && process.stdout.hasColors()
}

const coloured = isColoured()

/** Whether there is a colour was asked above: newer versions of Node would ask again. */
const paint = (colour, text) => (coloured ? styleText(colour, text, { validateStream: false }) : text)

module.exports = { print, say, paint }
