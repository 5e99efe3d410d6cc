'use strict'

// JSON with IDs, measured in a separate process: prints the ns for a row of each kind, the median of bursts that
// alternate, as JSON. `json.js` compares them.

const { jsonReplacer, jsonReviver } = require('../..')

const ROWS = 100
const BURST = 5
const ROUNDS = 400
const WARM_UP = 100
const FIRST = 7529535382561648641n
const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1]

/** Rows as an API sends them; `form` is the form of an ID in them. */
const rowsOf = (form) =>
  Array.from({ length: ROWS }, (_, i) => ({
    id: form(FIRST + BigInt(i * 4097)),
    userId: form(FIRST - BigInt(i * 4097)),
    name: `customer ${i}`,
    total: i * 1.25,
    createdAt: '2026-11-20T15:02:30.090Z',
  }))

const bigints = rowsOf((id) => id)
const texts = rowsOf(String)
const json = JSON.stringify(texts)
const reviver = jsonReviver(['id', 'userId'])

/** The usual code without such a function. */
const byHand = (_key, value) => (typeof value === 'bigint' ? value.toString() : value)
const backByHand = (key, value) => (key === 'id' || key === 'userId' ? BigInt(value) : value)

const CALLS = {
  'stringify: IDs are text already': () => JSON.stringify(texts),
  'stringify: jsonReplacer': () => JSON.stringify(bigints, jsonReplacer),
  'stringify: a replacer by hand': () => JSON.stringify(bigints, byHand),
  'parse: IDs stay text': () => JSON.parse(json),
  'parse: jsonReviver': () => JSON.parse(json, reviver),
  'parse: a reviver by hand': () => JSON.parse(json, backByHand),
}

const kept = { result: undefined } // the compiler could remove work whose result is not kept

function nsOf(call) {
  const start = process.hrtime.bigint()
  for (let i = 0; i < BURST; i++) kept.result = call()
  return Number(process.hrtime.bigint() - start) / BURST / ROWS
}

if (require.main === module) {
  const all = Object.entries(CALLS)
  const times = Object.fromEntries(all.map(([name]) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) for (const [name, call] of all) times[name].push(nsOf(call))
  console.log(JSON.stringify(Object.fromEntries(all.map(([name]) => [name, median(times[name].slice(WARM_UP))]))))
}

module.exports = { NAMES: Object.keys(CALLS) }
