'use strict'

// How long `flakeforge audit` takes for a table of ten million IDs, and how much memory: in the order of their IDs, shuffled,
// and with equal ones.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { FlakeId } = require('../../dist/index.cjs')
const { printPromises } = require('./report.js')

const IDS = 10_000_000
const NODES = 20
const COMMAND = path.join(__dirname, '..', '..', 'dist', 'flakeforge.cjs')

/** Prints the peak memory of the command at its end, in kB. */
const PEAK = 'process.once("exit", () => process.stderr.write(String(process.resourceUsage().maxRSS)))'

/** IDs of twenty nodes, one to nine in a tick. */
function makeIds() {
  let now = Date.now() - 20 * 86_400_000
  const flakes = Array.from({ length: NODES }, (_, id) => new FlakeId({ id, clock: () => now }))
  const ids = new BigUint64Array(IDS)
  for (let at = 0; at < IDS; ) {
    now += 1 + (at % 3)
    const end = Math.min(at + 1 + ((at * 7919) % 9), IDS)
    const flake = flakes[at % NODES]
    while (at < end) ids[at++] = flake.nextBigInt()
  }
  return ids
}

function shuffle(ids) {
  for (let at = ids.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1))
    const id = ids[at]
    ids[at] = ids[other]
    ids[other] = id
  }
  return ids
}

function write(ids, file) {
  const out = fs.openSync(file, 'w')
  for (let at = 0; at < IDS; at += 100_000) fs.writeSync(out, `${ids.subarray(at, at + 100_000).join('\n')}\n`)
  fs.closeSync(out)
}

/** @returns seconds, and MiB */
function measure(file, status) {
  const peak = path.join(path.dirname(file), 'peak.cjs')
  fs.writeFileSync(peak, PEAK)
  const start = process.hrtime.bigint()
  const child = spawnSync(process.execPath, ['--require', peak, COMMAND, 'audit', file, '--layout', 'flake'])
  const seconds = Number(process.hrtime.bigint() - start) / 1e9
  if (child.status !== status) throw new Error(`audit ended with ${child.status}: ${child.stderr}`)
  return [seconds, Number(child.stderr) / 1024]
}

function run() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-audit-'))
  const file = path.join(folder, 'ids.txt')
  const rows = []
  const add = (what, ids, status) => {
    write(ids, file)
    const [seconds, mebibytes] = measure(file, status)
    rows.push([`10^7 IDs, ${what}: seconds`, () => seconds, 10], [`10^7 IDs, ${what}: MiB`, () => mebibytes, 500])
  }
  try {
    const ids = makeIds()
    add('in the order of IDs', ids, 0)
    add('shuffled', shuffle(ids), 0)
    ids.copyWithin(IDS / 2, 0, IDS / 10)
    add('shuffled, with equal ones', ids, 1)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
  printPromises(rows)
}

module.exports = { run }
