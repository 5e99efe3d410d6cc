'use strict'

// What goes to stdout and stderr. It must never keep more than a batch of text in memory, nor take a reader who has seen
// enough (`| head`) for a fault.

const { once } = require('node:events')
const { styleText } = require('node:util')

process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

/** Writes, and waits while the reader is slower than we are. */
async function print(text) {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** One sentence on stderr. */
const say = (sentence) => process.stderr.write(`flakeforge: ${sentence}\n`)

/** FORCE_COLOR first, as in Node itself; then NO_COLOR and TERM, which hasColors() reads; a pipe has no colours. */
function isColoured({ FORCE_COLOR } = process.env) {
  if (styleText === undefined) return false // Node before 20.12
  if (FORCE_COLOR !== undefined) return !['0', 'false'].includes(FORCE_COLOR)
  return Boolean(process.stdout.isTTY) && process.stdout.hasColors()
}

const coloured = isColoured()

/** Whether there is a colour was asked above: newer Nodes would ask again. */
const paint = (colour, text) => (coloured ? styleText(colour, text, { validateStream: false }) : text)

module.exports = { print, say, paint }
