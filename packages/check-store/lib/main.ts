// Parses the command line, runs the checks and prints a line for each. The exit status is 1 if a check failed, and 2 if the
// command line is invalid and nothing was done. It only uses new groups.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { printable, withoutSecretsIn } from '../../shared.ts'
import manifest from '../package.json' with { type: 'json' }
import { isAddress } from './address.ts'
import { checkStore, type Result } from './index.ts'
import { monotonicNow } from './time.ts'

const [DONE, FAILED, USAGE] = [0, 1, 2]
const WIDTH = 16

const HELP = `Usage: flakeforge-check-store FILE|URL… [--json]

Imports the module FILE in several processes and checks that its database can hold slots: that a swap is atomic, that texts
are compared byte by byte, that reads are fresh, that the clock and the identity are right, and more. Prints one line for
each check, in about half a minute. The exit status is 1 if a check failed.

The default export of FILE is an async function that opens a client and returns { read, swap, names }, and perhaps groups
and close. FILE may also export wipe(), which makes the database lose everything: the last check is then that the loss is
detected.

Instead of FILE, pass three or five server URLs to check them together, as the one store that quorumStore() makes of them.

Use a database for tests. The command writes into its own groups, whose names it prints first, and cannot delete them.

      --json     a JSON object for each check
  -h, --help     this help
      --version  the version of this command
`

const OPTIONS = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const

const print = (text: string) => process.stdout.write(`${text}\n`)

const say = (text: string) => process.stderr.write(`flakeforge-check-store: ${text}\n`)

/** Texts of a store under test may contain anything. */
const inOneLine = (text: string) => printable(withoutSecretsIn(text.replaceAll(/(?<!\s)\s*\n\s*/g, ' ')))

/** A sentence of a finding, on the line of its check. */
const sentence = (label: string, text: string) => `${label}: ${inOneLine(text).replace(/\.$/, '')}.`

const paint: typeof styleText = (colour, text) =>
  styleText !== undefined && process.stdout.isTTY && process.stdout.hasColors() ? styleText(colour, text) : text

function toLine(result: Result) {
  const name = result.check.padEnd(WIDTH)
  if (result.ok) return `${paint('green', 'ok')}      ${name}${inOneLine(result.text)}`
  const { seen, wanted, todo } = result
  const found = [sentence('Seen', seen), sentence('Wanted', wanted), sentence('To do', todo)]
  return `${paint('red', 'FAILED')}  ${name}${found.join(' ')}`
}

/** @param prefix of the groups' names */
const leaves = (prefix: string) =>
  `This leaves about a thousand records of 1.2 MB behind, in groups whose names begin with '${prefix}'. Delete them by that name.`

/** @param path of the module, or addresses */
async function check(path: string, json: boolean) {
  const start = monotonicNow()
  const results = await checkStore(path, {
    begin: (prefix) => print(json ? JSON.stringify({ groups: prefix }) : leaves(prefix)),
    tell: (result) => print(json ? JSON.stringify(result) : toLine(result)),
  })
  const bad = results.filter(({ ok }) => !ok).map((result) => result.check)
  if (bad.length > 0) {
    say(`${bad.length} of ${results.length} checks failed: ${bad.join(', ')}.`)
    return FAILED
  }
  if (!json) print(`All ${results.length} checks passed in ${Math.ceil((monotonicNow() - start) / 1000)} s.`)
  return DONE
}

function read(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    const { message } = error as Error
    say(`${message.split('. ')[0]}. 'flakeforge-check-store --help' lists the options.`)
    return undefined
  }
}

/** Returns the exit status. */
export async function main(args: string[]) {
  const given = read(args)
  if (given === undefined) return USAGE
  const { values, positionals } = given
  if (values.help) process.stdout.write(HELP)
  if (values.version) print(manifest.version)
  if (values.help || values.version) return DONE
  if (positionals.length > 0 && positionals.every(isAddress)) return check(positionals.join(' '), values.json === true)
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0) {
    say('it takes the path of one module, such as ./my-store.mjs, or the URLs of three or five servers')
    return USAGE
  }
  if (existsSync(file)) return check(resolve(file), values.json === true)
  say(`There is no file ${resolve(file)}.`)
  return FAILED
}
