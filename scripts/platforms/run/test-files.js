'use strict'

// Which AVA files an emulator runs. Starting a process takes seconds there, and many at once hit the tests' time
// limits. So it runs those that need no server and start no process, and none of lease/: its code is JavaScript, and
// its tests mostly wait for time to pass. `__test__/smoke.cjs` checks the rest once, and x64-musl runs all of it. Only
// the rules written here exclude a file.

const fs = require('node:fs')
const path = require('node:path')
const { withoutServers } = require('../../test-files.js')

const checkout = path.join(__dirname, '..', '..', '..')

const isLease = (file) => file.startsWith('__test__/lease/')

/** The imports of a file that starts processes: the modules themselves, or our helpers. */
const STARTS = /\b(?:child_process|worker_threads|jsonOfChild|runChild|support\/(?:processes|command|disk)\.mjs)\b/
const startsProcesses = (text) => STARTS.test(text)

const textOf = (file) => fs.readFileSync(path.join(checkout, file), 'utf8')

/** Those that an emulator runs in minutes. */
const forEmulators = () => withoutServers().filter((file) => !isLease(file) && !startsProcesses(textOf(file)))

module.exports = { forEmulators }
