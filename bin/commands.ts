// The commands by name: each is a file of commands/ (parts/command.ts defines its exports). Help, completion and the parsing
// of arguments all use this table, so each command is described once.

import { nearest } from '../lib/base/nearest.ts'
import at from './commands/at.ts'
import audit from './commands/audit.ts'
import completion from './commands/completion.ts'
import counters from './commands/counters.ts'
import create from './commands/create.ts'
import destroy from './commands/destroy.ts'
import inspect from './commands/inspect.ts'
import layouts from './commands/layouts.ts'
import newIds from './commands/new.ts'
import restored from './commands/restored.ts'
import schema from './commands/schema.ts'
import slots from './commands/slots.ts'
import stores from './commands/stores.ts'
import type { Chosen, Command, CommandFile, Commands } from './parts/command.ts'
import { usageError } from './parts/faults.ts'

const COMMANDS: Record<string, CommandFile> = {
  new: newIds,
  inspect,
  at,
  audit,
  layouts,
  slots,
  stores,
  counters,
  create,
  destroy,
  restored,
  schema,
  completion,
}

const NAMES = Object.keys(COMMANDS)

/** Words that are not commands but may come in place of one. */
const OTHERS = ['help', '--help', '--version']

/** The command with this name. */
function load(name: string): Command {
  if (!NAMES.includes(name)) throw unknown(name)
  return { name, ...COMMANDS[name] }
}

function unknown(name: string) {
  const meant = nearest(name, [...NAMES, ...OTHERS])
  const wayOut = meant === undefined ? "Run 'flakeforge help' for a list." : `Did you mean '${meant}'?`
  return usageError(`Unknown command '${name}'. ${wayOut}`)
}

/** The command to run, and its arguments: without a name it is `new`. */
function choose(args: string[]): Chosen {
  const [first, ...rest] = args
  if (first === undefined || /^(?:\d+$|-)/.test(first)) return { command: load('new'), rest: args }
  return { command: load(first), rest }
}

export const commands: Commands = { NAMES, OTHERS, choose, load }
