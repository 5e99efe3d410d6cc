// The texts of --help for the given commands and options, at most 80 columns wide.

import { layouts } from '../../lib/entries/codec.ts'
import type { Command, Commands } from './command.ts'
import { factsOf } from './layout-facts.ts'
import { COMMON, type Option, type Options } from './options.ts'

const WIDTH = 80

/** Wraps text into lines that leave room for an indent. */
function wrap(text: string, indent = 0) {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && indent + last.length + 1 + word.length <= WIDTH) lines[lines.length - 1] += ` ${word}`
    else lines.push(word)
  }
  return lines
}

/** Terms, with their descriptions next to them. */
function list(pairs: [term: string, text: string][]) {
  const indent = Math.max(...pairs.map(([term]) => term.length)) + 4
  return pairs.flatMap(([term, text]) =>
    wrap(text, indent).map((line, i) => `  ${(i === 0 ? term : '').padEnd(indent - 2)}${line}`),
  )
}

const termOf = ([name, { value, short }]: [string, Option]) => {
  const names = name.length === 1 ? `-${name}` : `${short ? `-${short}, ` : ''}--${name}`
  return value === undefined ? names : `${names} ${value}`
}

const FIELDS: [string, string] = [
  '--FIELD N',
  `a node field of the layout: ${factsOf(layouts.flake)
    .nodeNames.map((name) => `--${name}`)
    .join(' and ')} in layout flake; --node, --machine, … in others`,
]

const linesOf = (options: Options): [string, string][] =>
  Object.entries(options).map((entry) => [termOf(entry), entry[1].about])

/** The output of `flakeforge COMMAND --help`. */
export function helpOf({ name, operands, about, options, nodeFields, examples }: Command) {
  const paragraphs = [
    `usage: flakeforge ${[name, operands, '[options]'].filter(Boolean).join(' ')}`,
    ...about.split('\n\n').map((paragraph) => wrap(paragraph).join('\n')),
    ['Options:', ...list([...linesOf(options), ...(nodeFields ? [FIELDS] : []), ...linesOf(COMMON)])].join('\n'),
    [
      'Examples:',
      ...examples.flatMap(([line, what]) => [`  ${line}`, ...wrap(what, 6).map((text) => `      ${text}`)]),
    ].join('\n'),
  ]
  return `${paragraphs.join('\n\n')}\n`
}

/** The output of `flakeforge --help`. */
export function overviewOf({ NAMES, load }: Commands) {
  const line: (command: Command) => [string, string] = ({ name, operands, summary }) => [
    `${name} ${operands}`.trim(),
    summary,
  ]
  return `usage: flakeforge [N]         generate N IDs (default 3), as \`new\` does
       flakeforge COMMAND …

Commands:
${list(NAMES.map(load).map(line)).join('\n')}

  flakeforge help COMMAND       the purpose, options and examples of a command
                                (or: COMMAND --help)
  flakeforge --version          the version (or: -v)

Exit status: 0 done, 1 failed, 2 invalid command line. All commands take --json.
`
}
