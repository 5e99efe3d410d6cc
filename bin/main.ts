// Finds the command, parses its options, and runs it. Help comes from the table of commands alone.

import manifest from '../package.json' with { type: 'json' }
import { commands } from './commands.ts'
import { readArguments, wantsHelp } from './parts/arguments.ts'
import { helpOf, overviewOf } from './parts/help.ts'
import { print } from './parts/output.ts'

const isVersion = (word: string) => word === '--version' || word.toLowerCase() === '-v'

const versionOf = (args: string[]) =>
  `${args.includes('--json') ? JSON.stringify({ version: manifest.version }) : manifest.version}\n`

export async function main(args: string[]) {
  const [first, ...more] = args
  if (args.some(isVersion) && args.every((word) => isVersion(word) || word === '--json')) return print(versionOf(args))
  if (first === 'help' && more.length > 0 && !wantsHelp(more)) return print(helpOf(commands.load(more[0])))
  if (first === 'help' || (args.length === 1 && wantsHelp(args))) return print(overviewOf(commands))
  const { command, rest } = commands.choose(args)
  if (command.complete !== undefined && rest[0] === '--') return command.complete(rest.slice(1), commands)
  if (wantsHelp(rest)) return print(helpOf(command))
  await command.run(readArguments(command, rest))
}
