// The chaos harness itself: its check finds all errors and nothing else, faults happen, a hang and an unexpected exit
// are noticed, and the negative control finds duplicates.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import fc from 'fast-check'

const require = createRequire(import.meta.url)
const { check } = require('../../lab/chaos/outcome/check.js')
const { canSetClocks } = require('../../lab/chaos/faults/clock.js')
const { control, prepare } = require('../../lab/chaos/scenarios/local.js')
const faults = require('../../lab/chaos/faults/member-faults.js')
const { judge, judgeControl } = require('../../lab/chaos/outcome/judge.js')
const { makeMembers } = require('../../lab/chaos/scenarios/tasks.js')
const { run } = require('../../lab/chaos/run/run.js')
const { RunFile, forEachRun, madeIn } = require('../../lab/chaos/member/run-file.js')
const { RunSet } = require('../../lab/chaos/outcome/run-set.js')
const { PAGE, readResults, withRuns } = require('../../lab/chaos/outcome/record.js')

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-chaos-test-'))
test.after.always(() => fs.rmSync(folder, { recursive: true }))

let lastFile = 0

/** A file with these IDs, and some bytes of a truncated record. */
function fileOf(ids, tail = 0) {
  const bytes = Buffer.alloc(ids.length * 8)
  for (const [i, id] of ids.entries()) bytes.writeBigUInt64BE(id, i * 8)
  const file = path.join(folder, `file-${++lastFile}`)
  new RunFile(file).add(bytes)
  fs.appendFileSync(file, Buffer.alloc(tail, 0xff))
  return file
}

/** This many IDs at the rate of a generator, about 1,000 per millisecond. */
function* idsOf(node, count, tick = 1_700_000_000_000n) {
  for (let i = 0n; i < count; i++) yield ((tick + i / 1000n) << 22n) | (node << 12n) | (i % 1000n)
}

test('check: correct IDs pass', (t) => {
  const files = [1n, 2n, 3n].map((node) => fileOf([...idsOf(node, 300_000)]))
  const found = check(files.map((file) => [file]))
  t.deepEqual(found, { ids: 900_000, runs: 900, duplicates: 0, disorders: 0, cut: 0, examples: [] })
})

test('check: one duplicate across two files is reported with its positions', (t) => {
  const first = [...idsOf(1n, 200_000)]
  const second = [...idsOf(2n, 200_000, 1_800_000_000_000n)]
  const planted = first[150_000]
  const files = [fileOf(first), fileOf([planted, ...second])]
  const found = check(files.map((file) => [file]))
  t.like(found, { ids: 400_001, duplicates: 1, disorders: 0 })
  const [name, other] = files.map((file) => path.basename(file))
  t.deepEqual(found.examples, [`${planted} twice: ${name}, ID 150001; ${other}, ID 1`])
})

test('check: a duplicate within one file counts as a disorder too', (t) => {
  t.like(check([[fileOf([1n, 2n, 2n, 3n])]]), { ids: 4, duplicates: 1, disorders: 1 })
})

test('check: a disorder within a file is found in the upper and in the lower half of the number', (t) => {
  t.like(check([[fileOf([1n << 32n, 5n, 6n])]]), { duplicates: 0, disorders: 1 })
  t.like(check([[fileOf([(1n << 32n) + 7n, (1n << 32n) + 5n])]]), { duplicates: 0, disorders: 1 })
})

test('check: order from file to file is checked only within a sequence', (t) => {
  const [early, late] = [fileOf([1n, 2n]), fileOf([3n, 4n])]
  t.like(check([[late], [early]]), { ids: 4, disorders: 0 })
  t.like(check([[late, early]]), { ids: 4, disorders: 1 })
  t.like(check([[early, late]]), { ids: 4, disorders: 0 })
})

test('check: the rest of a truncated ID is ignored, and a missing file counts as empty', (t) => {
  const ids = [...idsOf(1n, 10)]
  const files = [fileOf(ids.slice(0, 5), 15), fileOf([], 1), path.join(folder, 'missing'), fileOf(ids.slice(5))]
  t.like(check([files]), { ids: 10, duplicates: 0, disorders: 0, cut: 2 })
})

test('check: the smallest and the largest number are ordinary numbers', (t) => {
  const max = 2n ** 64n - 1n
  t.like(check([[fileOf([0n, max - 1n, max])], [fileOf([0n, max])]]), { ids: 5, duplicates: 2, disorders: 0 })
})

test('check: its counts equal those of a Set and a comparison', (t) => {
  const near = fc.bigInt({ min: 0n, max: 20_000n }).map((rest) => (1n << 40n) + rest)
  const far = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
  const list = fc.array(fc.oneof(near, far), { maxLength: 300 })
  const agrees = (lists) => {
    const files = lists.map((ids) => fileOf(ids))
    const all = lists.flat()
    const disorders = lists.flatMap((ids) => ids.filter((id, i) => i > 0 && id <= ids[i - 1])).length
    const { duplicates, ...found } = check(files.map((file) => [file]))
    for (const file of files) fs.rmSync(file)
    return found.ids === all.length && duplicates === all.length - new Set(all).size && found.disorders === disorders
  }
  t.notThrows(() => fc.assert(fc.property(fc.array(list, { maxLength: 5 }), agrees), { numRuns: 200 }))
})

test('a file of runs gives back the IDs in their order', (t) => {
  const max = 2n ** 64n - 1n
  const edge = fc.constantFrom(0n, 1n, 2n ** 32n - 1n, 2n ** 32n, max - 1n, max)
  const writes = fc.array(fc.array(fc.oneof(edge, fc.bigInt({ min: 0n, max: 6n })), { maxLength: 20 }), {
    maxLength: 4,
  })
  const isSame = (batches) => {
    const name = fileOf([])
    const file = new RunFile(name)
    for (const ids of batches)
      file.add(Buffer.concat(ids.map((id) => Buffer.from(id.toString(16).padStart(16, '0'), 'hex'))))
    const read = []
    forEachRun(name, ({ first, count, place }) => {
      t.is(place, BigInt(read.length))
      for (let i = 0n; i < count; i++) read.push(first + i)
    })
    t.is(madeIn(name), read.length)
    fs.rmSync(name)
    return read.join() === batches.flat().join()
  }
  t.notThrows(() => fc.assert(fc.property(writes, isSame), { numRuns: 300 }))
})

test('runs overlap exactly where a Set of a million numbers already contains them', (t) => {
  const runs = new RunSet()
  const plain = new Set()
  let again = 0
  const add = (first, count) => {
    runs.add(first, count)
    for (let id = first; id < first + count; id++) plain.has(id) ? again++ : plain.add(id)
  }
  const random = () => BigInt(Math.floor(Math.random() * 2 ** 40))
  while (plain.size < 1_000_000) add(random(), 1n + (random() % 64n))
  const [first, count] = [2n ** 63n, 100n]
  add(first, count)
  const edges = [first - 1n, first, first + count - 1n, first + count] // new, twice, twice, new
  for (const edge of edges) add(edge, 1n)
  add(first - 10n, 20n) // beyond the first edge
  add(first + count - 10n, 20n) // beyond the last one
  let found = 0n
  runs.forEachOverlap((_, count) => {
    found += count
  })
  t.is(Number(found), again)
  t.true(again >= 2 + 11 + 11)
})

// Outcomes

const WELL = { name: 'x', ids: 10, duplicates: 0, disorders: 0, examples: [], troubles: [] }

test('a scenario fails with a duplicate, a disorder, a trouble, or without any ID', (t) => {
  t.deepEqual(judge(WELL), [])
  t.deepEqual(judge({ ...WELL, duplicates: 1, examples: ['7 twice'] }), ['x: 1 duplicates', 'x: 7 twice'])
  t.deepEqual(judge({ ...WELL, disorders: 2 }), ['x: 2 IDs not above the one before'])
  t.deepEqual(judge({ ...WELL, ids: 0 }), ['x: no ID was made'])
  const troubles = ['a', 'b', 'c'].map((who) => ({ who, what: who === 'b' ? 'other' : 'hangs' }))
  t.deepEqual(judge({ ...WELL, troubles }), ['x: a (and 1 times more): hangs', 'x: b: other'])
})

test('the control fails without a duplicate, and with a disorder or a trouble', (t) => {
  t.deepEqual(judgeControl({ ...WELL, duplicates: 1, examples: ['7 twice'] }), [])
  t.deepEqual(judgeControl(WELL), ['x: found no duplicate: this harness would not see any'])
  t.is(judgeControl({ ...WELL, duplicates: 1, disorders: 1 }).length, 1)
  t.is(judgeControl({ ...WELL, duplicates: 1, troubles: [{ who: 'a', what: 'hangs' }] }).length, 1)
})

// Runs

const MEMBER_COUNT = 4

/** Plain generators, each with its own node number. */
const apart = (options = {}) => makeMembers(MEMBER_COUNT, (i) => ({ options: { id: i, ...options } }))

/** For a busy machine: a member may take long to start. */
const PATIENT = { firstIdMs: 30_000, hangMs: 60_000 }

const hasIds = ({ files }) => files.some((file) => madeIn(file) > 0)

/** Like a run of the command, but short; a run with a goal continues until it is reached. */
const runShortly = (scenario, seconds = scenario.isEnough ? 1 : 3) =>
  run({ name: 'test', ...scenario }, { folder, seconds })

test.serial('the negative control finds duplicates, and no other error', async (t) => {
  const outcome = await runShortly(control)
  t.true(outcome.duplicates > 0)
  t.deepEqual(judgeControl(outcome), [])
})

test.serial('members with different node numbers: no duplicate through every fault of a process', async (t) => {
  const withThreads = makeMembers(
    MEMBER_COUNT,
    (i) => ({ options: { id: i } }),
    (i) => 1 + (i % 2),
  )
  for (const fault of faults.process) {
    const isEnough = ({ counts, members }) =>
      fault.counts.every((name) => counts[name] > 0) && members.every(({ lives }) => lives.some(hasIds))
    const outcome = await runShortly({ ...PATIENT, members: withThreads, faults: [fault], isOneCursor: true, isEnough })
    t.deepEqual(judge(outcome), [], fault.counts.join())
    for (const name of fault.counts) t.true(outcome.counts[name] > 0, name)
    const restarts = fault.counts.every((name) => name === 'pauses') ? 0 : outcome.counts[fault.counts.at(-1)]
    t.is(outcome.lives, MEMBER_COUNT + restarts)
  }
})

/** Further back in each life, by more than a process can take to start: its IDs are below those of its earlier lives. */
const setFarBack = {
  ...faults.clock[0],
  async strike(member) {
    await member.kill()
    member.start(-60_000 * member.lives.length)
  },
}

test.serial(
  'plain generators: a clock that was set back across a restart shows as disorder from life to life',
  async (t) => {
    if (!canSetClocks && process.env.FLAKEFORGE_REQUIRE_SERVERS !== '1') {
      return t.regex(prepare({ folders: { disk: folder } }).missing.join(), /no clock was set/)
    }
    const isEnough = ({ members }) => members.some(({ lives }) => lives.filter(hasIds).length > 1)
    const scenario = { ...PATIENT, members: apart(), faults: [setFarBack], isEnough }
    const together = await runShortly({ ...scenario, isOneCursor: true })
    t.true(together.disorders > 0)
    t.deepEqual(together.troubles, [])
    const apiece = await runShortly({ ...scenario, isOneCursor: false })
    t.is(apiece.disorders, 0, 'within one life the cursor keeps the order')
    t.deepEqual(apiece.troubles, [])
  },
)

test.serial('a member that exits with an error is noticed, and restarted', async (t) => {
  const isByItself = ({ what }) => what.startsWith('ended with status 1') // and was not killed while exiting
  const isEnough = ({ counts, troubles }) => troubles.some(isByItself) && counts.kills > 0
  const outcome = await runShortly({ members: apart({ wroker: 1 }), faults: [faults.process[0]], isEnough })
  const wrong = judge(outcome)
  t.true(wrong.includes('test: no ID was made'))
  t.true(
    wrong.some((what) => /member \d, life \d.*: ended with status 1: .*'wroker'/s.test(what)),
    wrong.join('\n'),
  )
  t.true(outcome.lives > MEMBER_COUNT)
})

test.serial('a member that generates no IDs is noticed', async (t) => {
  const layout = {
    fields: [
      ['zero', 22],
      ['timestamp', 20],
      ['node', 10],
      ['counter', 12],
    ],
  } // ended in 1970
  const tooLate = apart({ layout }).map(([task]) => [{ ...task, refusals: ['ERR_FLAKE_TIME_RANGE'] }])
  const { troubles } = await runShortly({ members: tooLate, faults: [], hangMs: 600 })
  t.is(troubles.length, MEMBER_COUNT)
  // On a busy machine, the member may not have told its error yet.
  const known = /^hangs: thread 1 made no ID for 0\.6 s(; its last error was ERR_FLAKE_TIME_RANGE: The time .*)?$/
  for (const { what } of troubles) t.regex(what, known)
})

test('missing parts of this machine are reported', (t) => {
  const { scenarios, missing } = prepare({ folders: { disk: folder, memory: undefined } })
  t.is(scenarios.length, 2)
  t.regex(missing[0], /^no tmpfs/)
  t.is(prepare({ folders: { disk: folder, memory: folder } }).scenarios.length, 4)
})

test('the page shows the recorded runs, and only the control has duplicates', (t) => {
  const page = fs.readFileSync(PAGE, 'utf8').replaceAll('\r\n', '\n')
  const records = readResults()
  t.is(withRuns(page, records), page)
  t.true(records.length > 0)
  for (const { isControl, results } of records)
    for (const { name, duplicates } of results) t.is(duplicates > 0, isControl, name)
})
