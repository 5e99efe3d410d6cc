'use strict'

// Mutates a file of lib/ with Stryker, and runs tests for each change: those that are named below for the files that keep IDs
// unique, else those of the file's room, the folder of the same name in __test__/ without the folders in it. Stryker works in
// a copy of the project, so it may write into it.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { copyProject } = require('./copy.js')

/** The files of the weekly run, which keep IDs unique, and the tests that cover them. */
const WEEKLY = {
  'lib/codec/packing.ts': ['layout/layouts', 'layout/golden', 'layout/ids'],
  'lib/stores/file-store.ts': ['files/join-file-store'],
  'lib/calls/queue.ts': [
    'calls/promises',
    'calls/signal',
    'generator/waiting',
    'generator/waiting-and-time',
    'generator/event-loop',
    'lease/segment/segment',
    'remote/calls',
    'remote/one-group',
    'remote/refusals',
    'remote/requests',
  ],
  'lib/lease/lease.ts': ['lease/bounds', 'lease/events', 'lease/faults', 'lease/signal-join'],
  'lib/lease/segment/blocks.ts': ['lease/segment/segment', 'lease/segment/take', 'lease/segment/faults'],
  'lib/lease/segment/counter.ts': ['lease/segment/segment', 'lease/segment/faults'],
  'lib/lease/segment/block-supply.ts': ['lease/segment/segment', 'lease/segment/take', 'lease/segment/faults'],
  'lib/stores/database.ts': ['stores/database-store', 'stores/few-free', 'stores/passing'],
  'lib/remote/client-supply.ts': [
    'remote/calls',
    'remote/requests',
    'remote/waiting',
    'remote/answers',
    'remote/refusals',
  ],
}

/** Where the tests of a room are, if not in a folder with its name. */
const ELSEWHERE = { codec: '{codec,layout}', native: 'package' }

/** Stryker, and the packages below it as of a fixed day: npx supports no lock file. 9, because 10 needs Node.js 22. */
const STRYKER = ['--yes', '--ignore-scripts', '--before=2026-11-01', '@stryker-mutator/core@9.6.1']

/** The percentage of changes that must be noticed. Many changes make no difference: in a message, or in a delay. */
const LEAST = 60

/** The tests of a file, as patterns for ava. `part`: the file, or some of its lines, as in `lib/calls/queue.ts:72-120`. */
function testsOf(part) {
  const [file] = part.split(':')
  const room = path.posix.dirname(file).replace(/^lib\//, '')
  const tests = WEEKLY[file] ?? [`${ELSEWHERE[room] ?? room}/*`]
  return tests.map((test) => `__test__/${test}.test.mjs`)
}

/** Ends the programs that tests of earlier changes left behind: one in an endless loop would slow down all later tests. */
const endRemains = (copy) => `pkill --signal KILL --full '[/]${copy.slice(1)}/dist/' || true`

/** The configuration of Stryker in a copy of the project. */
function settings(copy, part, tests) {
  const run = `node scripts/dist.js && npx ava --fail-fast --timeout=30s ${tests.join(' ')}`
  return {
    mutate: [part],
    inPlace: true,
    disableTypeChecks: false, // it would write into other files too
    testRunner: 'command',
    commandRunner: { command: `${endRemains(copy)}; ${run}` },
    concurrency: 1, // ava uses all cores, and tests start servers
    timeoutMS: 10_000, // beyond half as long again as without a change
    mutator: { excludedMutations: ['StringLiteral'] }, // mostly text for people
    tsconfigFile: 'none', // it would ask TypeScript for an API that version 7 does not have
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { logTests: false, reportTests: false, allowEmojis: false },
    thresholds: { high: 100, low: 90, break: LEAST },
    tempDirName: 'target/stryker',
    plugins: [],
    allowConsoleColors: false,
  }
}

/** Tries one file, or some of its lines, by its own tests or by these; returns whether enough was noticed. */
function tryFile([part, ...tests]) {
  const copy = copyProject()
  try {
    // Stryker's version of the file is not correct TypeScript, and these tests need no declarations.
    fs.writeFileSync(path.join(copy, 'scripts', 'declarations.js'), 'exports.writeDeclarations = async () => {}\n')
    const config = path.join(copy, 'stryker.json')
    fs.writeFileSync(config, JSON.stringify(settings(copy, part, tests.length > 0 ? tests : testsOf(part))))
    const env = { ...process.env, FLAKEFORGE_REQUIRE_SERVERS: '1' } // a skipped test notices nothing
    return spawnSync('npx', [...STRYKER, 'run', config], { cwd: copy, env, stdio: 'inherit' }).status === 0
  } finally {
    spawnSync('sh', ['-c', endRemains(copy)])
    fs.rmSync(copy, { recursive: true, force: true })
  }
}

module.exports = { WEEKLY, tryFile }
