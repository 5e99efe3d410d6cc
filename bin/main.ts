// Finds the command, parses its options, and runs it. Help comes from the table of commands alone.

import manifest from '../package.json' with { type: 'json' }
import { commands } from './commands.ts'
import { readArguments, wantsHelp } from './parts/arguments.ts'
import { helpOf, overviewOf } from './parts/help.ts'
import { print } from './parts/output.ts'

export async function main(args: string[]) {
  const [first, ...more] = args
  if (first === '--version' || first === '-v') return print(`${manifest.version}\n`)
  if (first === 'help' && more.length > 0 && !wantsHelp(more)) return print(helpOf(commands.load(more[0])))
  if (first === 'help' || (args.length === 1 && wantsHelp(args))) return print(overviewOf(commands))
  const { command, rest } = commands.choose(args)
  if (command.complete !== undefined && rest[0] === '--') return command.complete(rest.slice(1), commands)
  if (wantsHelp(rest)) return print(helpOf(command))
  await command.run(readArguments(command, rest))
}
