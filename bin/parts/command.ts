// The interface of a command: the exports of the files in commands/, and the options of one. It loads no command.

import type { Layout } from '../../lib/entries/codec.ts'
import type * as declared from './options.ts'
import { COMMON, nodeFields, type Options } from './options.ts'

/** The parsed command line, for a command to run with. A switch is true. */
export interface Given {
  /** the options that were given */
  values: Values
  /** the arguments other than options */
  operands: string[]
}

/** The given options by name; besides these, the node fields of the layout. */
export type Values = Partial<Record<NamesOf<Declared, 'text'>, string>> &
  Partial<Record<NamesOf<Declared, 'switch'>, true>> & {
    [field: string]: string | true | undefined
  }

/** The tables of options.ts: what they declare is nowhere said again. */
type Declared = Extract<(typeof declared)[keyof typeof declared], Options>

type KindOf<O> = O extends { value: string } ? 'text' : 'switch'

/** The names of the options of a kind, in any of the tables. */
type NamesOf<Table, Kind> = Table extends Table
  ? { [Name in keyof Table]: KindOf<Table[Name]> extends Kind ? Name : never }[keyof Table]
  : never

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
