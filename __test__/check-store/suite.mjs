// What tests of flakeforge-check-store share: modules written for it, and a run of its checks that ends with the first one
// that fails.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import anyTest from 'ava'
import { turns } from '../support/turns.mjs'

const require = createRequire(import.meta.url)
export const { checkStore } = require('../../packages/check-store/lib/index.js')

export const ALL = [
  'opens',
  'clock',
  'identity',
  'absent',
  'swap',
  'values',
  'one database',
  'other identity',
  'bytes',
  'length',
  'group names',
  'names',
  'groups',
  'many names',
  'fresh reads',
  'position',
  'atomic swaps',
  'snapshots',
  'suspended',
  'kept',
  'no expiry',
  'close',
  'same identity',
  'loss',
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

let modules = 0

/** The path of a module with this source. */
export function moduleOf(source) {
  const file = path.join(folder, `store-${modules++}.mjs`)
  fs.writeFileSync(file, source)
  return file
}

const inTurn = turns(2)

/** A test in its turn, because each takes several processes; its time begins with its turn. */
export const test = (title, body, run = anyTest) =>
  run(title, (t) => {
    t.timeout(1_800_000)
    return inTurn(() => {
      t.timeout(300_000)
      return body(t)
    })
  })

/** The results, up to the first check that failed. */
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

export function allAreOk(t, results) {
  t.deepEqual(
    results.filter(({ ok }) => !ok),
    [],
  )
  t.deepEqual(
    results.map(({ check }) => check),
    ALL,
  )
}
