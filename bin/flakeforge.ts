#!/usr/bin/env node

// The program `npx flakeforge`: runs the command line, and reports errors.

import { report } from './parts/faults.ts'

/** Loaded here, and not above, so that report() also covers a broken file of this package. */
const run = async (args: string[]) => (await import('./main.ts')).main(args)

/** Node ends with status 0 when nothing is pending, even if the work is not done. */
function reportUnfinished() {
  report(new Error('The process had nothing left to wait for, but the command was not done.'))
}

process.once('beforeExit', reportUnfinished)
run(process.argv.slice(2))
  .catch(report)
  .finally(() => process.off('beforeExit', reportUnfinished))
