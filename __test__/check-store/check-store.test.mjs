// flakeforge-check-store: correct stores pass, and a store with one fault fails the check for that fault. The checks
// run in separate processes, over a database of this test.

import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { blocks } from '../support/documents.mjs'
import { outputOf } from '../support/index.mjs'
import { once, until } from '../support/waits.mjs'
import { startRecords } from './server.mjs'
import { ALL, allAreOk, checkStore, findingOf, folder, moduleOf, resultsOf, SMALL, test } from './suite.mjs'
import { FAULTS } from './wrong.mjs'

const PROGRAM = fileURLToPath(new URL('../../packages/check-store/dist/flakeforge-check-store.mjs', import.meta.url))
const start = (args) => spawn(process.execPath, [PROGRAM, ...args])
const run = (args) => outputOf(start(args))

const here = (name) => JSON.stringify(pathToFileURL(path.join(import.meta.dirname, name)))
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

// First, because it waits until time runs out.
test('checks without time left report that', async (t) => {
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

test('a correct store passes all checks', async (t) => {
  const port = await freshRecords(t)
  allAreOk(t, await resultsOf(rightModule(port)))
})

test("the guide's example without its last part passes too", async (t) => {
  const guide = fs.readFileSync(new URL('../../docs/store/your-own-database.md', import.meta.url), 'utf8')
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
  test(`${fault}: rejected by ‘${check}’`, async (t) => {
    const port = await freshRecords(t)
    const { seen, wanted, todo } = await findingOf(wrongModule(fault, port), check, size)
    t.regex(seen, expected)
    for (const text of [seen, wanted, todo]) t.regex(text, /^\S[^\n]+$/)
  })
}

test('the command runs all checks within its time, and reports what it leaves behind', async (t) => {
  const port = await freshRecords(t)
  const before = Date.now()
  const { code, stdout, stderr } = await run([rightModule(port)])
  t.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout)
  t.true(Date.now() - before < 100_000)
  const [first, ...lines] = stdout.trimEnd().split('\n')
  t.regex(first, /leaves .* behind, in groups whose names begin with 'flakeforge-check-[\da-f]{8}'/)
  t.regex(lines.pop(), /^All 24 checks passed in \d+ s\.$/)
  t.deepEqual(
    lines.map((line) => /^ok {6}(.{15}) \S/.exec(line)?.[1].trimEnd()),
    ALL,
  )
  t.regex(stdout, /^ok {6}atomic swaps .* 50 clients in 4 processes/m)
  t.regex(stdout, /^ok {6}no expiry .* up to [2-5]\d s ago/m)
})

test('a failed check is a line with what was seen, what was expected and what to do', async (t) => {
  const file = moduleOf('export default {}')
  const { code, stdout, stderr } = await run([file])
  t.is(code, 1)
  t.regex(stdout, /\nFAILED {2}opens {11}Seen: [^\n]+ Wanted: an async function [^\n]+ To do: [^\n]+\.\n$/)
  t.is(stderr, 'flakeforge-check-store: 1 of 1 checks failed: opens.\n')
})

test('--json prints an object for each check', async (t) => {
  const file = moduleOf('export default {}')
  const { stdout } = await run([file, '--json'])
  const [{ groups }, result, ...more] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.regex(groups, /^flakeforge-check-/)
  t.deepEqual(Object.keys(result), ['check', 'ok', 'seen', 'wanted', 'todo'])
  t.deepEqual(more, [])
})

test('output of the module does not come between the lines', async (t) => {
  const file = moduleOf('console.log("hello from the module")')
  const { stdout, stderr } = await run([file])
  t.false(stdout.includes('hello'))
  t.true(stderr.includes('hello from the module\n'))
})

test('the command and its processes exit if no answer ever comes', async (t) => {
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
  t.regex(results[0].seen, /^the default export did not answer within 2\.5 s$/)
  const pids = fs.readFileSync(path.join(folder, 'pids'), 'utf8').trimEnd().split('\n').map(Number)
  t.is(pids.length, 2)
  for (const pid of pids) t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
})

test('a module whose import never ends is reported within the time of a check', async (t) => {
  const file = moduleOf('setInterval(() => {}, 1000)\nawait new Promise(() => {})')
  const { seen } = await findingOf(file, 'opens', { checkMs: 3000 })
  t.is(seen, 'the import of the module did not answer within 1 s')
})

test('processes end with the command', async (t) => {
  const pid = path.join(folder, 'pid')
  const file = moduleOf(`
    import { renameSync, writeFileSync } from 'node:fs'
    writeFileSync(${JSON.stringify(pid)} + process.pid, String(process.pid))
    renameSync(${JSON.stringify(pid)} + process.pid, ${JSON.stringify(pid)})
    setInterval(() => {}, 1000)
    export default () => new Promise(() => {})
  `)
  const command = start([file])
  await until(() => fs.existsSync(pid))
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
  await until(() => !isThere())
  t.pass()
})

test('a wrong command line is rejected', async (t) => {
  const WRONG = [
    [[], 2, /takes the path of one module/],
    [['a.mjs', 'b.mjs'], 2, /takes the path of one module/],
    [['--jsom', 'a.mjs'], 2, /Unknown option '--jsom'/],
    [['./nowhere.mjs'], 1, /There is no file .*nowhere\.mjs/],
  ]
  for (const [args, status, message] of WRONG) {
    const { code, stdout, stderr } = await run(args)
    t.deepEqual({ code, stdout }, { code: status, stdout: '' })
    t.regex(stderr, /^flakeforge-check-store: [^\n]+\n$/)
    t.regex(stderr, message)
  }
})

test('--help and --version', async (t) => {
  const help = await run(['--help'])
  t.is(help.code, 0)
  t.regex(help.stdout, /^Usage: flakeforge-check-store FILE/)
  const version = await run(['--version'])
  t.regex(version.stdout, /^\d+\.\d+\.\d+\n$/)
})
