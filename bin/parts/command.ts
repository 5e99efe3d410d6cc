// The interface of a command: the exports of the files in commands/, and the options of one. It loads no command.

import type { Layout } from '../../lib/entries/codec.ts'
import { COMMON, nodeFields, type Options } from './options.ts'

/** The parsed command line, for a command to run with. A switch is true. */
export interface Given {
  /** the options that were given */
  values: Values
  /** the arguments other than options */
  operands: string[]
}

/** The given options by name; besides these, the node fields of the layout. */
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
  | 'function'
  | 'node'
  | 'grant'
  | 'column'
  | 'as'
  | 'from'
  | 'id'
  | 'shared'
  | 'store'
  | 'wait'

/** The exports of a file of commands/. */
export interface CommandFile {
  /** its purpose, in a line of the overview */
  summary: string
  /** its operands, as in its usage line */
  operands: string
  /** the text of its help */
  about: string
  /** its own, out of options.ts; those of all commands are added */
  options: Options
  /** whether the node fields of the layout are options too */
  nodeFields?: boolean
  /** the candidates for each operand */
  completes?: Completes[]
  /** command lines, and the effect of each */
  examples: [line: string, what: string][]
  run: (given: Given) => Promise<void>
  /** completes the words after `--` */
  complete?: (words: string[], commands: Commands) => Promise<void>
}

/** The candidates for a word: files of any kind, stores, or a few texts. */
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
