'use strict'

// The cost of jsonReplacer and jsonReviver compared with plain JSON.stringify and JSON.parse, and with the same by
// hand. All of it in one run, since only the ratios are the same on every machine.

const { NAMES } = require('./json-once.js')
const { median, ofProcess, printPromises, ROUNDS } = require('./report.js')

const measured = []
const ns = (name) => median(measured.map((times) => times[name]))
const ratio = (name, other) => () => median(measured.map((times) => times[name] / times[other]))

/**
 * V8 has a fast path for JSON without a function, so much of this is the cost of any function. For revivers it grew
 * with Node.js 21, which passes them the text of each value: there is no promise for that.
 */
const PROMISES = [
  ['jsonReplacer / JSON.stringify alone', ratio('stringify: jsonReplacer', 'stringify: IDs are text already'), 4],
  ['jsonReplacer / a replacer by hand', ratio('stringify: jsonReplacer', 'stringify: a replacer by hand'), 1.25],
  ['jsonReviver / a reviver by hand', ratio('parse: jsonReviver', 'parse: a reviver by hand'), 1.5],
]

function run() {
  for (let round = 1; round <= ROUNDS; round++) {
    process.stderr.write(`round ${round} of ${ROUNDS}\r`)
    measured.push(ofProcess('json-once.js'))
  }
  console.log(`\nMedians of ${ROUNDS} processes, Node ${process.version}\n`)
  for (const name of NAMES) console.log(`${name.padEnd(38)} ${ns(name).toFixed(0).padStart(8)} ns per row`)
  printPromises(PROMISES)
  const alone = ratio('parse: jsonReviver', 'parse: IDs stay text')()
  console.log(`\njsonReviver / JSON.parse alone: ${alone.toFixed(1)}`)
}

module.exports = { run }
