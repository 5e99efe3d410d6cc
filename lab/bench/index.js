'use strict'

// `npm run bench`: the cost of each piece of work, compared with others, and whether we keep our promises. Every number is the
// median over processes that alternate, so a noisy machine disturbs all equally. Exit status 1 if a bar is missed. `npm run
// bench -- NAME` runs one section; leases, segments and service start their own servers. `--node 26`, which
// may be repeated, measures `ids` on that Node.js, from npm or a path. `--svg` also writes the results of `ids` to
// docs/start/speed.json, and draws the pictures of docs/ from it.

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
  service: './service.mjs',
}
const USUAL = ['load', 'ids', 'processes'] // needs no server

/** A Node.js to measure: the version, and its program. */
function nodeOf(given) {
  const { execFileSync } = require('node:child_process')
  const program = /^\d+$/.test(given) ? require('../../scripts/runtimes.js').programOf(`node-${given}`) : given
  return { name: execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().slice(1), program }
}

async function runAll(names, nodes) {
  for (const name of names) {
    const { run } = await import(SECTIONS[name])
    await run(nodes)
  }
}

async function main(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { svg: { type: 'boolean' }, node: { type: 'string', multiple: true } },
  })
  const unknown = positionals.find((name) => !(name in SECTIONS))
  if (unknown !== undefined)
    throw new Error(`there is no benchmark '${unknown}': there are ${Object.keys(SECTIONS).join(', ')}`)
  const names = positionals.length > 0 ? positionals : USUAL
  if (values.svg && !names.includes('ids')) throw new Error(`--svg draws what 'ids' measures, so it needs that`)
  const nodes = (values.node ?? [process.execPath]).map(nodeOf)
  await runAll(names, nodes)
  if (values.svg) require('./ids.js').draw(nodes)
}

main(process.argv.slice(2))
