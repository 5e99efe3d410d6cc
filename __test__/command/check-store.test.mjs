// `flakeforge check-store`: stores that are right pass, and stores that are wrong in one way are refused by the check that
// is there for it. The checks run in processes of their own, over a database of this test or a real Redis.

import { once } from 'node:events'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import anyTest from 'ava'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { fails, isRefused, run, start } from '../support/command.mjs'
import { blocks } from '../support/documents.mjs'
import { turns } from '../support/turns.mjs'
import { startRecords } from './check-store/server.mjs'
import { FAULTS } from './check-store/wrong.mjs'

const { checkStore } = createRequire(import.meta.url)('../../bin/parts/check-store/index.js')

const ALL = [
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
  'kept',
  'no expiry',
  'close',
  'loss',
]

/** Enough to see each fault of wrong.mjs. */
const SMALL = {
  processes: 2,
  clients: 8,
  clockMs: 700,
  many: 60,
  freshRounds: 30,
  claims: 3,
  raceMs: 500,
  raceRounds: 20,
  snapshotMs: 100,
  snapshotRounds: 10,
  keptRounds: 1,
  keptMs: 10_000,
  keptRecords: 10,
  ageMs: 0,
  allMs: 240_000, // a busy machine
  checkMs: 120_000,
  callMs: 30_000,
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-check-store-'))
process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))

const here = (name) => JSON.stringify(pathToFileURL(path.join(import.meta.dirname, 'check-store', name)))
let modules = 0

/** The path of a module with this source. */
function moduleOf(source) {
  const file = path.join(folder, `store-${modules++}.mjs`)
  fs.writeFileSync(file, source)
  return file
}

const rightModule = (port) =>
  moduleOf(`
    import { open, wipe as lose } from ${here('right.mjs')}
    export default open(${port})
    export const wipe = () => lose(${port})
  `)

const wrongModule = (fault, port) =>
  moduleOf(`
    import { openWrong, wipeAs } from ${here('wrong.mjs')}
    export default openWrong(${JSON.stringify(fault)}, ${port})
    ${FAULTS[fault].lose ? `export const wipe = () => wipeAs(${JSON.stringify(fault)}, ${port})` : ''}
  `)

async function freshRecords(t) {
  const records = await startRecords()
  t.teardown(records.stop)
  return records.port
}

/** Each of these takes several processes. */
const inTurn = turns(4)

/** The results, up to the first check that failed. */
async function resultsOf(file, size) {
  const results = []
  const enough = new Error('a check has failed')
  const tell = (result) => {
    results.push(result)
    if (!result.ok) throw enough
  }
  await inTurn(() => checkStore(file, { size: { ...SMALL, ...size }, tell })).catch((error) => {
    if (error !== enough) throw error
  })
  return results
}

function allAreOk(t, results) {
  t.deepEqual(
    results.filter(({ ok }) => !ok),
    [],
  )
  t.deepEqual(
    results.map(({ check }) => check),
    ALL,
  )
}

// First, because it waits for its end.
anyTest('checks for which no time is left say so', async (t) => {
  t.timeout(300_000)
  const port = await freshRecords(t)
  const results = await checkStore(rightModule(port), { size: { ...SMALL, clockMs: 100_000, allMs: 20_000 } })
  const clock = results.findIndex(({ check }) => check === 'clock')
  t.regex(results[clock].seen, /^it was not done after \d+ s$/)
  for (const { ok, seen } of results.slice(clock + 1)) {
    t.false(ok)
    t.regex(seen, /was not run/)
  }
  t.is(results.length, ALL.length)
})

anyTest('a store that is right passes all checks', async (t) => {
  t.timeout(300_000)
  const port = await freshRecords(t)
  allAreOk(t, await resultsOf(rightModule(port)))
})

const redisTest = wantRedis() === undefined ? anyTest.skip : anyTest
redisTest('so does one over a real Redis, with two scripts', async (t) => {
  t.timeout(300_000)
  const server = await startRedis()
  t.teardown(() => server.stop())
  const url = JSON.stringify(server.url)
  const file = moduleOf(`
    import { openRedis, wipeRedis } from ${here('redis.mjs')}
    export default openRedis(${url})
    export const wipe = () => wipeRedis(${url})
  `)
  allAreOk(t, await resultsOf(file))
})

anyTest('so does the example of the guide, without its last part', async (t) => {
  t.timeout(300_000)
  const guide = fs.readFileSync(new URL('../../docs/lease/your-own-database.md', import.meta.url), 'utf8')
  const [example] = blocks(guide).filter(({ language }) => language === 'js')
  const [source, rest] = example.code.split('// Try it\n')
  t.truthy(rest)
  const file = moduleOf(source)
  const { serve } = await import(pathToFileURL(file))
  const server = serve()
  t.teardown(() => server.close())
  await once(server, 'listening')
  const url = JSON.stringify(`http://127.0.0.1:${server.address().port}`)
  allAreOk(t, await resultsOf(moduleOf(`process.env.RECORDS_URL = ${url}\n${source}`)))
})

for (const [fault, { check, size, seen: expected = /./ }] of Object.entries(FAULTS)) {
  anyTest(`${fault}: refused by ‘${check}’`, async (t) => {
    t.timeout(300_000)
    const port = await freshRecords(t)
    const results = await resultsOf(wrongModule(fault, port), size)
    const { ok, seen, wanted, todo, check: name } = results.at(-1)
    t.false(ok)
    t.is(name, check, seen)
    t.regex(seen, expected)
    for (const text of [seen, wanted, todo]) t.regex(text, /^\S[^\n]+$/)
  })
}

anyTest('the command runs all checks within a minute, and says what it leaves behind', async (t) => {
  t.timeout(300_000)
  const port = await freshRecords(t)
  const before = Date.now()
  const { code, stdout, stderr } = await run(['check-store', rightModule(port)])
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout)
  t.true(Date.now() - before < 60_000)
  const [first, ...lines] = stdout.trimEnd().split('\n')
  t.regex(first, /leaves .* behind, in groups whose names begin with 'flakeforge-check-[\da-f]{8}'/)
  t.regex(lines.pop(), /^All 22 checks passed in \d+ s\.$/)
  t.deepEqual(
    lines.map((line) => /^ok {6}(.{15}) \S/.exec(line)?.[1].trimEnd()),
    ALL,
  )
  t.regex(stdout, /^ok {6}atomic swaps .* 50 clients in 4 processes/m)
  t.regex(stdout, /^ok {6}no expiry .* up to [2-5]\d s ago/m)
})

anyTest('a check that fails is a line with what was seen, what was wanted and what to do', async (t) => {
  const file = moduleOf('export default {}')
  const { code, stdout, stderr } = await run(['check-store', file])
  t.is(code, 1)
  t.regex(stdout, /\nFAILED {2}opens {11}Seen: [^\n]+ Wanted: an async function [^\n]+ To do: [^\n]+\.\n$/)
  t.is(stderr, 'flakeforge: 1 of 1 checks failed: opens.\n')
})

anyTest('--json prints an object for each check', async (t) => {
  const file = moduleOf('export default {}')
  const { stdout } = await run(['check-store', file, '--json'])
  const [{ groups }, result, ...more] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.regex(groups, /^flakeforge-check-/)
  t.deepEqual(Object.keys(result), ['check', 'ok', 'seen', 'wanted', 'todo'])
  t.deepEqual(more, [])
})

anyTest('what the module prints does not come between the lines', async (t) => {
  const file = moduleOf('console.log("hello from the module")')
  const { stdout, stderr } = await run(['check-store', file])
  t.false(stdout.includes('hello'))
  t.true(stderr.includes('hello from the module\n'))
})

anyTest('the command ends, and its processes with it, if nothing ever answers', async (t) => {
  t.timeout(300_000)
  const file = moduleOf(`
    import { appendFileSync } from 'node:fs'
    appendFileSync(${JSON.stringify(path.join(folder, 'pids'))}, process.pid + '\\n')
    setInterval(() => {}, 1000)
    export default () => new Promise(() => {})
  `)
  const results = await checkStore(file, { size: { ...SMALL, callMs: 500 } })
  t.deepEqual(
    results.map(({ check, ok }) => ({ check, ok })),
    [{ check: 'opens', ok: false }],
  )
  t.regex(results[0].seen, /did not answer within 0\.5 s/)
  const pids = fs.readFileSync(path.join(folder, 'pids'), 'utf8').trimEnd().split('\n').map(Number)
  t.is(pids.length, 2)
  for (const pid of pids) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
})

anyTest('processes end with the command', async (t) => {
  t.timeout(300_000)
  const pid = path.join(folder, 'pid')
  const file = moduleOf(`
    import { renameSync, writeFileSync } from 'node:fs'
    writeFileSync(${JSON.stringify(pid)} + process.pid, String(process.pid))
    renameSync(${JSON.stringify(pid)} + process.pid, ${JSON.stringify(pid)})
    setInterval(() => {}, 1000)
    export default () => new Promise(() => {})
  `)
  const command = start(['check-store', file])
  while (!fs.existsSync(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
  const child = Number(fs.readFileSync(pid, 'utf8'))
  command.kill('SIGKILL')
  await once(command, 'exit')
  const isThere = () => {
    try {
      return process.kill(child, 0)
    } catch {
      return false
    }
  }
  while (isThere()) await new Promise((resolve) => setTimeout(resolve, 20))
  t.pass()
})

anyTest('a wrong command line is refused', async (t) => {
  await isRefused(t, ['check-store'], /takes the path of one module/)
  await isRefused(t, ['check-store', 'a.mjs', 'b.mjs'], /takes the path of one module/)
  await fails(t, ['check-store', './nowhere.mjs'], /There is no file .*nowhere\.mjs/)
})
