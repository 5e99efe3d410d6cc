'use strict'
// @ts-check

// What a command is: the shape of the files in commands/, and the options of one. It must never load a command.

/** @import { Layout } from '../../index.d.ts' */
/** @import { Options } from './options.js' */

const { COMMON, nodeFields } = require('./options.js')

/**
 * What the command line says, for a command to run with. A switch is true.
 * @typedef {object} Given
 * @property {Values} values the options that were given
 * @property {string[]} operands what was given beside options
 */

/**
 * The options that were given, by their names; besides these, the node fields of the layout.
 * @typedef {Partial<Record<TextOption, string>> & Partial<Record<'json' | 'help' | 'yes' | 'durable', true>>
 *   & { [field: string]: string | true | undefined }} Values
 */

/**
 * @typedef {'layout' | 'epoch' | 'nodes' | 'mode' | 'id-offset' | 'node-offset' | 'group' | 'slots' | 'ttl' | 'skew' | 'n'
 *   | 'column' | 'as' | 'from' | 'id' | 'shared' | 'store' | 'wait'} TextOption
 */

/**
 * What a file of commands/ exports.
 * @typedef {object} CommandFile
 * @property {string} summary what it does, in a line of the overview
 * @property {string} operands what it takes beside options, as its usage line shows it
 * @property {string} about what its help says
 * @property {Options} options its own, out of options.js; those of all commands come by themselves
 * @property {boolean} [nodeFields] whether the node fields of the layout are options too
 * @property {Completes[]} [completes] what each operand can be
 * @property {[line: string, what: string][]} examples command lines, and what each does
 * @property {(given: Given) => Promise<void>} run
 * @property {(words: string[], commands: Commands) => Promise<void>} [complete] what it does with words after `--`
 */

/**
 * What a word can be: a file of any kind, a store, or one of a few texts.
 * @typedef {'file' | 'store' | (() => string[])} Completes
 */

/** @typedef {CommandFile & { name: string }} Command */

/** @typedef {{ command: Command, rest: string[] }} Chosen */

/**
 * The table of all commands, as ../commands.js exports it.
 * @typedef {object} Commands
 * @property {string[]} NAMES
 * @property {string[]} OTHERS
 * @property {(args: string[]) => Chosen} choose
 * @property {(name: string) => Command} load
 */

/**
 * All options that a command has with this layout.
 * @param {CommandFile} command
 * @param {Layout} [layout]
 * @returns {Options}
 */
const optionsOf = (command, layout) => ({
  ...command.options,
  ...(layout && nodeFields(layout)),
  ...COMMON,
})

module.exports = { optionsOf }
