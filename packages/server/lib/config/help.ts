// The output of --help: every option of options.ts.

import { OPTIONS, variableOf } from './options.ts'

const ABOUT = `flakeforge-server: unique 64-bit IDs over HTTP, for every language

  npx flakeforge-server
  curl -X POST http://127.0.0.1:8080/v1/ids/default

Options (each is also a variable, and a key of the JSON file: --token-file is tokenFile there):
`

const SWITCHES = `  -h, --help                 prints this
  -v, --version              prints the version
`

/** The column in which the text begins. */
const COLUMN = 29

function line(name: string) {
  const { value, about, absent, among } = OPTIONS[name]
  const flag = `  --${name} ${value}`.padEnd(COLUMN - 1)
  const texts = [about, among && `one of ${among.join(', ')}`, absent !== undefined && `default ${absent}`]
  return `${flag} ${texts.filter(Boolean).join('; ')}\n${' '.repeat(COLUMN)}$${variableOf(name)}\n`
}

export const helpText = () => ABOUT + Object.keys(OPTIONS).map(line).join('') + SWITCHES
