#!/usr/bin/env node

// The program: `npx flakeforge`. It finds the command that is meant, reads its options, runs it, and reports what goes
// wrong. It must never know what a command does.

import manifest from '../package.json' with { type: 'json' }
import { report } from './parts/faults.ts'

async function main(args: string[]) {
  // Here, and not above: if the addon cannot be loaded, the library says what to do, and report() prints that.
  const { commands, helpOf, overviewOf, print, readArguments, wantsHelp } = await import('./all.ts')
  const [first, ...more] = args
  if (first === '--version' || first === '-v') return print(`${manifest.version}\n`)
  if (first === 'help' && more.length > 0 && !wantsHelp(more)) return print(helpOf(commands.load(more[0])))
  if (first === 'help' || (args.length === 1 && wantsHelp(args))) return print(overviewOf(commands))
  const { command, rest } = commands.choose(args)
  if (command.complete !== undefined && rest[0] === '--') return command.complete(rest.slice(1), commands)
  if (wantsHelp(rest)) return print(helpOf(command))
  await command.run(readArguments(command, rest))
}

/** Node ends with status 0 once there is nothing to wait for, even if the work is not done. */
function reportUnfinished() {
  report(new Error('The process had nothing left to wait for, but the command was not done.'))
}

process.once('beforeExit', reportUnfinished)
main(process.argv.slice(2))
  .catch(report)
  .finally(() => process.off('beforeExit', reportUnfinished))
