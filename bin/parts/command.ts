// What a command is: the shape of the files in commands/, and the options of one. It must never load a command.

import type { Layout } from '../../lib/entries/codec.ts'
import { COMMON, nodeFields, type Options } from './options.ts'

/** What the command line says, for a command to run with. A switch is true. */
export interface Given {
  /** the options that were given */
  values: Values
  /** what was given beside options */
  operands: string[]
}

/** The options that were given, by their names; besides these, the node fields of the layout. */
export type Values = Partial<Record<TextOption, string>> &
  Partial<Record<'json' | 'help' | 'yes' | 'durable', true>> & { [field: string]: string | true | undefined }

type TextOption =
  | 'layout'
  | 'epoch'
  | 'nodes'
  | 'mode'
  | 'id-offset'
  | 'node-offset'
  | 'group'
  | 'slots'
  | 'ttl'
  | 'skew'
  | 'n'
  | 'column'
  | 'as'
  | 'from'
  | 'id'
  | 'shared'
  | 'store'
  | 'wait'

/** What a file of commands/ exports. */
export interface CommandFile {
  /** what it does, in a line of the overview */
  summary: string
  /** what it takes beside options, as its usage line shows it */
  operands: string
  /** what its help says */
  about: string
  /** its own, out of options.ts; those of all commands come by themselves */
  options: Options
  /** whether the node fields of the layout are options too */
  nodeFields?: boolean
  /** what each operand can be */
  completes?: Completes[]
  /** command lines, and what each does */
  examples: [line: string, what: string][]
  run: (given: Given) => Promise<void>
  /** what it does with words after `--` */
  complete?: (words: string[], commands: Commands) => Promise<void>
}

/** What a word can be: a file of any kind, a store, or one of a few texts. */
export type Completes = 'file' | 'store' | (() => string[])

export type Command = CommandFile & { name: string }

export type Chosen = { command: Command; rest: string[] }

/** The table of all commands, as ../commands.ts exports it. */
export interface Commands {
  NAMES: string[]
  OTHERS: string[]
  choose: (args: string[]) => Chosen
  load: (name: string) => Command
}

/** All options that a command has with this layout. */
export const optionsOf = (command: CommandFile, layout?: Layout): Options => ({
  ...command.options,
  ...(layout && nodeFields(layout)),
  ...COMMON,
})
