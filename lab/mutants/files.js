'use strict'

// Mutates a file of lib/ with Stryker, and runs the tests of its room for each change.
//
// A file's tests are those of the folder of the same name in __test__/, without the folders in it: lib/lease/segment/ is
// tried by __test__/lease/segment/*.test.mjs. Stryker works in a copy of the project, so it may write into it.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { copyProject } = require('./copy.js')

/** Where the tests of a room are, if not in a folder with its name. */
const ELSEWHERE = { codec: '{codec,layout}', native: 'package' }

/** Stryker, and the packages below it as of a fixed day: npx supports no lock file. 9, because 10 needs Node.js 22. */
const STRYKER = ['--yes', '--ignore-scripts', '--before=2026-11-01', '@stryker-mutator/core@9.6.1']

/** The percentage of changes that must be noticed. Many changes make no difference: in a message, or in a delay. */
const LEAST = 60

/** The tests of a file, as a pattern for ava. */
function testsOf(file) {
  const room = path.posix.dirname(file).replace(/^lib\//, '')
  return `__test__/${ELSEWHERE[room] ?? room}/*.test.mjs`
}

/** The configuration of Stryker. */
function settings(file, tests) {
  return {
    mutate: [file],
    inPlace: true,
    disableTypeChecks: false, // it would write into other files too
    testRunner: 'command',
    commandRunner: { command: `node scripts/dist.js && npx ava --fail-fast --timeout=2m ${tests.join(' ')}` },
    concurrency: 1, // ava uses all cores, and tests start servers
    timeoutMS: 60_000,
    mutator: { excludedMutations: ['StringLiteral'] }, // mostly text for people
    tsconfigFile: 'none', // it would ask TypeScript for an API that version 7 does not have
    reporters: ['clear-text'],
    clearTextReporter: { logTests: false, reportTests: false, allowEmojis: false },
    thresholds: { high: 100, low: 90, break: LEAST },
    tempDirName: 'target/stryker',
    plugins: [],
    allowConsoleColors: false,
  }
}

/** Tries one file, by its room's tests or by these; returns whether enough was noticed. */
function tryFile([file, ...tests]) {
  const copy = copyProject()
  try {
    // Stryker's version of the file is not correct TypeScript, and these tests need no declarations.
    fs.writeFileSync(path.join(copy, 'scripts', 'declarations.js'), 'exports.writeDeclarations = async () => {}\n')
    const config = path.join(copy, 'stryker.json')
    fs.writeFileSync(config, JSON.stringify(settings(file, tests.length > 0 ? tests : [testsOf(file)])))
    const env = { ...process.env, FLAKEFORGE_REQUIRE_SERVERS: '1' } // a skipped test notices nothing
    return spawnSync('npx', [...STRYKER, 'run', config], { cwd: copy, env, stdio: 'inherit' }).status === 0
  } finally {
    fs.rmSync(copy, { recursive: true, force: true })
  }
}

module.exports = { tryFile }
