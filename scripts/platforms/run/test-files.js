'use strict'

// Which AVA files an emulator runs. It takes seconds to start a process, and many at once end in the tests' time limits. So
// it runs those that need no server and start no process, and none of lease/: its code is JavaScript, and its tests mostly
// wait for time to pass. What this leaves out, `__test__/smoke.cjs` checks once, and x64-musl runs all of it.
// It must never leave out a file without a rule that is written here.

const fs = require('node:fs')
const path = require('node:path')
const { withoutServers } = require('../../test-files.js')

const checkout = path.join(__dirname, '..', '..', '..')

const isLease = (file) => file.startsWith('__test__/lease/')

/** What a file that starts processes imports for that: the modules themselves, or our helpers. */
const STARTS = /\b(?:child_process|worker_threads|jsonOfChild|runChild|support\/(?:processes|command|disk)\.mjs)\b/
const startsProcesses = (text) => STARTS.test(text)

const textOf = (file) => fs.readFileSync(path.join(checkout, file), 'utf8')

/** Those that an emulator runs in minutes. */
const forEmulators = () => withoutServers().filter((file) => !isLease(file) && !startsProcesses(textOf(file)))

module.exports = { forEmulators }
