'use strict'

// Makes the probe (probe.rs) cause a memory error in this thread, in a worker thread or in a child process, so that
// `npm run memcheck` can show that it sees all three: `node probe.cjs PLACE WHAT`. Only for runs under the sanitizer.

const { spawnSync } = require('node:child_process')
const path = require('node:path')
const { SHARE_ENV, Worker } = require('node:worker_threads')

const PROBE = path.join(__dirname, '..', '..', 'target', 'memcheck', 'probe.node')
const ARRAY_BYTES = 4096 // V8 keeps small arrays in its own memory, which the sanitizer does not watch

/** Node.js calls the probe each time it is loaded, and Rust reads the variable of the process. */
function probe(what) {
  process.env.MEMCHECK_PROBE = what
  process.dlopen({ exports: new Uint8Array(ARRAY_BYTES) }, PROBE)
}

const PLACES = {
  here: probe,
  worker: (what) => new Worker(__filename, { argv: ['here', what], env: SHARE_ENV }),
  child: (what) => spawnSync(process.execPath, [__filename, 'here', what]),
}

const [place, what] = process.argv.slice(2)
if (process.argv[1] === __filename) PLACES[place](what)

module.exports = { probe }
