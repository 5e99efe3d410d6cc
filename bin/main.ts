// Finds the command, parses its options, and runs it. Help comes from the table of commands alone.

import manifest from '../package.json' with { type: 'json' }
import { commands } from './commands.ts'
import { readArguments, wantsHelp } from './parts/arguments.ts'
import { helpOf, overviewOf } from './parts/help.ts'
import { print, sayWarnings } from './parts/output.ts'

const isVersion = (word: string) => word === '--version' || word.toLowerCase() === '-v'

/** Whether the version is requested, alone or, before any `--`, of a command. */
const wantsVersion = (args: string[]) =>
  args.slice(0, args.includes('--') ? args.indexOf('--') : undefined).includes('--version') ||
  (args.some(isVersion) && args.every((word) => isVersion(word) || word === '--json'))

const isHelp = (word: string | undefined) => word !== undefined && (word === 'help' || wantsHelp([word]))

const versionOf = (args: string[]) =>
  `${args.includes('--json') ? JSON.stringify({ version: manifest.version }) : manifest.version}\n`

export async function main(args: string[]) {
  const [first, ...more] = args
  if (wantsVersion(args)) return print(versionOf(args))
  if (isHelp(first)) {
    const word = more.find((each) => !each.startsWith('-') && !isHelp(each))
    return print(word === undefined ? overviewOf(commands) : helpOf(commands.choose([word]).command))
  }
  const { command, rest } = commands.choose(args)
  if (command.complete !== undefined && rest[0] === '--') return command.complete(rest.slice(1), commands)
  if (wantsHelp(rest)) return print(helpOf(command))
  sayWarnings()
  await command.run(readArguments(command, rest))
}
