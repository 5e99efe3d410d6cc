#!/usr/bin/env node
'use strict'

// The command: `npx flakeforge`. It picks a command of bin/commands/, and reports what that throws. It must never know what
// a command does.

const { report } = require('./parts/faults.js')
const { print } = require('./parts/output.js')

const COMMANDS = ['new', 'inspect', 'at', 'layouts', 'slots', 'create', 'destroy']

const USAGE = `usage: flakeforge [N]            makes N IDs (default 3) and shows what is in them
       flakeforge new [N]        the same with options: layout, node, output
       flakeforge inspect ID…    says what is in an ID, in any text form, of any system
       flakeforge at DATE [DATE] gives the smallest and the largest ID of a time, for WHERE id BETWEEN
       flakeforge layouts        lists the systems whose IDs it makes and reads
       flakeforge slots [STORE]  lists who holds the slots that join() gives
       flakeforge create STORE   makes a group of slots that is known to be new
       flakeforge destroy STORE  ends one

Every command has --help and --json (one JSON object a line).`

function choose([first, ...rest]) {
  if (COMMANDS.includes(first)) return [first, rest]
  if (first === undefined || /^(?:\d+$|-)/.test(first)) return ['new', first === undefined ? [] : [first, ...rest]]
  throw Object.assign(new Error(`there is no command '${first}': there are ${COMMANDS.join(', ')}`), { isUsage: true })
}

async function main(args) {
  if (args[0] === 'help' || (args.length === 1 && ['-h', '--help'].includes(args[0]))) return print(`${USAGE}\n`)
  const [name, rest] = choose(args)
  const { usage, run } = require(`./commands/${name}.js`)
  if (rest.includes('--help') || rest.includes('-h')) return print(`${usage}\n`)
  await run(rest)
}

main(process.argv.slice(2)).catch(report)
