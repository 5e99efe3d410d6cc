#!/usr/bin/env node
'use strict'

// The command: `npx flakeforge 5` makes five IDs and shows what is in them.

const { parseArgs, styleText } = require('node:util')
const FlakeId = require('..')

const USAGE = `usage: flakeforge [N]

Makes N IDs (default 3) and shows each as hex, decimal and bits, with the fields named.`

const COLOURS = ['cyan', 'green', 'yellow', 'magenta']

/** Older Node 20 has no styleText; NO_COLOR and a pipe mean plain text. */
const isPlain = styleText === undefined || !process.stdout.isTTY || Boolean(process.env.NO_COLOR)
const paint = (colour, text) => (isPlain ? text : styleText(colour, text))

/** The ID's bits cut into fields, and under them the fields' names and values: two lines. */
function picture(id, layout) {
  const bits = FlakeId.format(id, 'bin')
  const parts = layout.decode(id)
  let at = 0
  const columns = layout.fields.map(([name, width], i) => {
    const digits = bits.slice(at, at + width)
    at += width
    const label = `${name} ${name === 'timestamp' ? parts.date.toISOString() : parts[name]}`
    const size = Math.max(digits.length, label.length)
    return [digits.padEnd(size), label.padEnd(size)].map((text) => paint(COLOURS[i % COLOURS.length], text))
  })
  return [0, 1].map((line) => `  ${columns.map((column) => column[line]).join(' ')}`.trimEnd()).join('\n')
}

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' } },
  })
  if (values.help) {
    console.log(USAGE)
    return
  }
  const [count = '3', ...more] = positionals
  if (more.length > 0 || !/^\d{1,9}$/.test(count))
    throw new Error(`N must be a number of IDs, not '${positionals.join(' ')}'`)
  const flake = new FlakeId()
  for (let i = 0; i < Number(count); i++) {
    const id = await flake.nextAsync()
    console.log(
      `0x${FlakeId.format(id, 'hex').padStart(16, '0')}  ${FlakeId.format(id, 'dec')}\n${picture(id, flake.layout)}\n`,
    )
  }
}

// `flakeforge 1000000 | head` closes the pipe early, which is no fault.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

main().catch((error) => {
  console.error(`flakeforge: ${error.message}`)
  process.exitCode = 2
})
