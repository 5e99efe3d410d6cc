// Shared by the tests of flakeforge-check-store: modules written for it, a run of its checks up to the first failure,
// and a single check.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import anyTest from 'ava'
import { turns } from '../support/turns.mjs'

const require = createRequire(import.meta.url)
const { Finding } = require('../../target/rooms/packages/check-store/lib/finding.js')
export const { CHECKS, checkStore } = require('../../target/rooms/packages/check-store/lib/index.js')
const { FULL } = require('../../target/rooms/packages/check-store/lib/size.js')
const { Trial } = require('../../target/rooms/packages/check-store/lib/trial.js')

/** All checks, in their order. */
// biome-ignore format: in few lines
export const ALL = [
  'opens', 'clock', 'identity', 'absent', 'swap', 'values', 'one database', 'other identity', 'bytes', 'length',
  'group names', 'names', 'groups', 'many names', 'fresh reads', 'position', 'atomic swaps', 'snapshots', 'suspended',
  'kept', 'no expiry', 'close', 'same identity', 'loss',
]

/** Enough to see each fault of wrong.mjs. */
export const SMALL = {
  processes: 2,
  clients: 8,
  clockMs: 700,
  many: 60,
  freshRounds: 30,
  claims: 3,
  raceMs: 500,
  raceRounds: 20,
  snapshotMs: 200,
  snapshotRounds: 10,
  haltMs: 2500,
  wipeMs: 2500,
  keptRounds: 1,
  keptMs: 10_000,
  keptRecords: 10,
  ageMs: 0,
  allMs: 240_000, // a busy machine
  checkMs: 120_000,
  callMs: 30_000,
}

export const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-check-store-'))
process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))

let written = 0

/** The path of a module with this source. */
export function moduleOf(source) {
  const file = path.join(folder, `store-${written++}.mjs`)
  fs.writeFileSync(file, source)
  return file
}

const inTurn = turns(3)

/**
 * Runs a test when fewer than three others run, because each takes several processes; its time limit starts then. An
 * earlier, longer one would suspend the limit of all tests.
 */
export const test = (title, body, run = anyTest) =>
  run(title, (t) =>
    inTurn(() => {
      t.timeout(300_000)
      return body(t)
    }),
  )

/** The results, up to the first failed check. */
export async function resultsOf(file, size) {
  const results = []
  const enough = new Error('a check has failed')
  const tell = (result) => {
    results.push(result)
    if (!result.ok) throw enough
  }
  await checkStore(file, { size: { ...SMALL, ...size }, tell }).catch((error) => {
    if (error !== enough) throw error
  })
  return results
}

const runs = new Map(CHECKS.map(({ name, run }) => [name, run]))

/** Checks of what other clients have written or read. */
const AFTER = {
  names: ['group names'],
  groups: ['group names'],
  'no expiry': ['one database'],
  'same identity': ['bytes', 'fresh reads'],
  loss: ['bytes'],
}

/** Checks that compare several processes. One process is enough for the others. */
const OF_SEVERAL = ['one database', 'fresh reads', 'atomic swaps', 'snapshots']

/** The finding of this check; undefined if it finds nothing. The other, slower checks do not run. */
export async function findingOf(file, check, size) {
  const processes = OF_SEVERAL.includes(check) ? SMALL.processes : 1
  const trial = new Trial(file, { ...FULL, ...SMALL, processes, ...size })
  try {
    for (const name of new Set(['opens', ...(AFTER[check] ?? []), check])) await runs.get(name)(trial)
  } catch (error) {
    return Finding.of(error)
  } finally {
    await trial.end()
  }
}

export function allAreOk(t, results, name) {
  t.deepEqual(
    results.filter(({ ok }) => !ok),
    [],
    name,
  )
  t.deepEqual(
    results.map(({ check }) => check),
    ALL,
    name,
  )
}
