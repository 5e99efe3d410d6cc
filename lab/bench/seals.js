'use strict'

// The cost of a public ID: Seal compared with Sqids and with a block of AES by Node's crypto.

const { median, ofProcess, printPromises, ROUNDS } = require('./report.js')
const { SEAL_CALLS, SEAL_BATCHES, MANY } = require('./seal-work.js')

const ALL = [
  ...Object.keys(SEAL_CALLS).map((name) => ['call', name]),
  ...Object.keys(SEAL_BATCHES).map((name) => ['batch', name]),
]

/** The maximum of µs for one ID, in each form. */
const MOST_US = 1

function run() {
  const measured = new Map(ALL.map(([, name]) => [name, []]))
  for (let round = 1; round <= ROUNDS; round++) {
    process.stderr.write(`round ${round} of ${ROUNDS}\r`)
    for (const [kind, name] of ALL) measured.get(name).push(ofProcess('measure.js', kind, name))
  }
  const ns = (name) => median(measured.get(name))
  const us = (name) => [`${name}, µs`, () => ns(name) / 1000, MOST_US]

  console.log(`\nPublic IDs, medians of ${ROUNDS} processes each, taking turns, Node ${process.version}\n`)
  for (const name of Object.keys(SEAL_CALLS)) console.log(`${name.padEnd(38)} ${ns(name).toFixed(0).padStart(6)} ns`)
  for (const name of Object.keys(SEAL_BATCHES))
    console.log(`${name.padEnd(38)} ${ns(name).toFixed(0).padStart(6)} ns per ID`)
  printPromises([
    ...['seal(Buffer)', 'open(Buffer)', 'sealBigInt(bigint)', 'openBigInt(bigint)'].map(us),
    ...['sealString(bigint)', "sealString(bigint, 'base62')", 'openString(text)'].map(us),
    ['sealString(bigint) / sqids encode', () => ns('sealString(bigint)') / ns('sqids: encode'), 0.15],
    ['openString(text) / sqids decode', () => ns('openString(text)') / ns('sqids: decode'), 0.8],
    [
      'sealBigInt(bigint) / AES-256-ECB, one block, node:crypto',
      () => ns('sealBigInt(bigint)') / ns('node:crypto: AES-256-ECB, one block'),
      1.2,
    ],
    ['sealAll(), per ID / sealBigInt()', () => ns(`sealAll(${MANY} bigints)`) / ns('sealBigInt(bigint)'), 0.9],
  ])
}

module.exports = { run }
