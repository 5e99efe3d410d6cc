// `flakeforge completion`: prints the script that lets a shell complete the command line. The scripts in bin/completion/
// contain no options: at each Tab they call `flakeforge completion -- WORD…`, so they stay correct after an update.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nearest } from '../../lib/base/nearest.ts'
import { candidates } from '../parts/candidates.ts'
import type { CommandFile, Commands, Given } from '../parts/command.ts'
import { usageError } from '../parts/faults.ts'
import { print } from '../parts/output.ts'

const SHELLS = ['bash', 'zsh', 'fish']

const script = (shell: string) =>
  readFileSync(join(import.meta.dirname, '..', 'bin', 'completion', `flakeforge.${shell}`), 'utf8')

function unknown(shell: string | undefined) {
  if (shell === undefined) return usageError(`completion takes the name of a shell: ${SHELLS.join(', ')}.`)
  const meant = nearest(shell, SHELLS)
  const wayOut = meant === undefined ? `The shells are ${SHELLS.join(', ')}.` : `Did you mean '${meant}'?`
  return usageError(`Unknown shell '${shell}'. ${wayOut}`)
}

async function run({ values, operands }: Given) {
  const [shell] = operands
  if (operands.length > 1) throw usageError(`completion takes one shell, not ${operands.length}.`)
  if (!SHELLS.includes(shell)) throw unknown(shell)
  await print(values.json ? `${JSON.stringify({ shell, script: script(shell) })}\n` : script(shell))
}

/** The candidates for the last word, one per line: the candidate, a tab, and its description. */
const complete = (words: string[], commands: Commands) =>
  print(
    candidates(words, commands)
      .map((line) => `${line}\n`)
      .join(''),
  )

export default {
  summary: 'set up completion in bash, zsh or fish',
  operands: SHELLS.join('|'),
  about: `Prints a script that lets your shell complete commands, options, layouts and forms. Your shell must find the command
as flakeforge: install it with npm install --global flakeforge, or add node_modules/.bin to PATH.

Run the example for your shell once. Each new shell then loads the script.`,
  options: {},
  completes: [() => SHELLS],
  examples: [
    ['echo \'eval "$(flakeforge completion bash)"\' >> ~/.bashrc', 'bash'],
    ['echo \'eval "$(flakeforge completion zsh)"\' >> ~/.zshrc', 'zsh, after the line with compinit'],
    ['flakeforge completion fish > ~/.config/fish/completions/flakeforge.fish', 'fish'],
  ],
  complete,
  run,
} satisfies CommandFile
