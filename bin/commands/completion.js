'use strict'
// @ts-check

// `flakeforge completion`: prints the script that lets a shell complete the command line. The scripts in
// bin/completion/ know no options: at each Tab they call `flakeforge completion -- WORD…`, so they stay correct after
// an update.

/** @import { CommandFile, Commands, Given } from '../parts/command.js' */

const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { nearest } = require('../../lib/base/nearest.js')
const { candidates } = require('../parts/candidates.js')
const { usageError } = require('../parts/faults.js')
const { print } = require('../parts/output.js')

const SHELLS = ['bash', 'zsh', 'fish']

/** @param {string} shell */
const script = (shell) => readFileSync(join(__dirname, '..', 'completion', `flakeforge.${shell}`), 'utf8')

/** @param {string | undefined} shell */
function unknown(shell) {
  if (shell === undefined) return usageError(`completion takes the name of a shell: ${SHELLS.join(', ')}.`)
  const meant = nearest(shell, SHELLS)
  const wayOut = meant === undefined ? `There are ${SHELLS.join(', ')}.` : `Did you mean '${meant}'?`
  return usageError(`Unknown shell '${shell}'. ${wayOut}`)
}

/** @param {Given} given */
async function run({ values, operands }) {
  const [shell] = operands
  if (operands.length > 1) throw usageError(`completion takes one shell, not ${operands.length}.`)
  if (!SHELLS.includes(shell)) throw unknown(shell)
  await print(values.json ? `${JSON.stringify({ shell, script: script(shell) })}\n` : script(shell))
}

/**
 * The candidates for the last word, one per line: the candidate, a tab, and what it is.
 * @param {string[]} words
 * @param {Commands} commands
 */
const complete = (words, commands) =>
  print(
    candidates(words, commands)
      .map((line) => `${line}\n`)
      .join(''),
  )

/** @type {CommandFile} */
module.exports = {
  summary: 'print the script that completes this command in bash, zsh or fish',
  operands: SHELLS.join('|'),
  about: `Prints a script that lets your shell complete commands, options, layouts and forms. It works where your shell
finds the command as flakeforge: after npm install --global flakeforge, or with node_modules/.bin in PATH.

Your shell runs it at its start, once you have put it into the file of the example.`,
  options: {},
  completes: [() => SHELLS],
  examples: [
    ['echo \'eval "$(flakeforge completion bash)"\' >> ~/.bashrc', 'bash'],
    ['echo \'eval "$(flakeforge completion zsh)"\' >> ~/.zshrc', 'zsh, after the line with compinit'],
    ['flakeforge completion fish > ~/.config/fish/completions/flakeforge.fish', 'fish'],
  ],
  complete,
  run,
}
