'use strict'

// `npm run bench`: the cost of each piece of work, compared with others, and whether we keep our promises. Ratios are medians
// over processes that alternate, so a noisy machine disturbs all equally; `ids` prints times too, the lowest of them. Exit
// status 1 if a bar is missed. `npm run bench -- NAME` runs one section; leases, segments, growth and service start their own
// servers. `--node 26`, which may be repeated, measures `ids` on that Node.js, from npm or a path; also `bun` and `deno`.
// `npm run bench -- --figures` measures the figures that the documents print, on a quiet machine, and writes them.

const { parseArgs } = require('node:util')

const SECTIONS = {
  load: './load.js',
  ids: './ids.js',
  json: './json.js',
  processes: './processes.js',
  leases: './leases.mjs',
  segments: './segments.mjs',
  seals: './seals.js',
  audit: './audit.js',
  growth: './growth.mjs',
  service: './service.mjs',
}
const USUAL = ['load', 'ids', 'processes'] // needs no server
/** The versions of Node.js in the documents' tables, the newest first. */
const PRINTED = ['26', '24', '20']

/** A runtime to measure: its name, and the command that runs a script with `gc`. */
function runtimeOf(given) {
  const { execFileSync } = require('node:child_process')
  const { programOf } = require('../../scripts/runtimes.js')
  const isOther = given === 'bun' || given === 'deno'
  const program = isOther ? programOf(given) : /^\d+$/.test(given) ? programOf(`node-${given}`) : given
  const [version] = execFileSync(program, ['--version'], { encoding: 'utf8' }).match(/\d[\w.-]+/)
  const flags = given === 'deno' ? ['run', '--allow-all', '--v8-flags=--expose-gc'] : ['--expose-gc']
  return { name: isOther ? `${given} ${version}` : version, command: [program, ...flags] }
}

async function runAll(names, runtimes) {
  for (const name of names) {
    const { run } = await import(SECTIONS[name])
    await run(runtimes)
  }
}

async function main(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { figures: { type: 'boolean' }, node: { type: 'string', multiple: true } },
  })
  const unknown = positionals.find((name) => !(name in SECTIONS))
  if (unknown !== undefined)
    throw new Error(`there is no benchmark '${unknown}': there are ${Object.keys(SECTIONS).join(', ')}`)
  if (values.figures) {
    if (positionals.length > 0 || values.node !== undefined)
      throw new Error(`--figures measures 'ids' on Node.js ${PRINTED.join(', ')}: it takes no section and no --node`)
    return require('./ids.js').writeFigures(PRINTED.map(runtimeOf))
  }
  const names = positionals.length > 0 ? positionals : USUAL
  await runAll(names, (values.node ?? [process.execPath]).map(runtimeOf))
}

main(process.argv.slice(2))
