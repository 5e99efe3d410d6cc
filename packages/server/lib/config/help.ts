// The output of --help: every option of options.ts, in lines of at most 80 columns.

import { OPTIONS, variableOf } from './options.ts'

const ABOUT = `flakeforge-server: unique 64-bit IDs over HTTP, for every language

  npx flakeforge-server
  curl -X POST http://127.0.0.1:8080/v1/ids/default

Each option can also be set by the variable beside it, or by a key of the JSON
file: --token-file is tokenFile there.

`

const SWITCHES = `  -h, --help
      print this help
  -v, --version
      print the version
`

const WIDTH = 80
const INDENT = 6

/** Wraps text into indented lines. */
function wrap(text: string) {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= WIDTH) lines[lines.length - 1] += ` ${word}`
    else lines.push(' '.repeat(INDENT) + word)
  }
  return lines.join('\n')
}

function entry(name: string) {
  const { value, about, absent } = OPTIONS[name]
  const text = absent === undefined ? about : `${about} (default: ${absent})`
  return `  --${name} ${value}, $${variableOf(name)}\n${wrap(text)}\n`
}

export const helpText = () => ABOUT + Object.keys(OPTIONS).map(entry).join('') + SWITCHES
