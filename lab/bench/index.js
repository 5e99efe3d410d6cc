'use strict'

// `npm run bench`: what each piece of work costs, compared with others, and whether we keep our promises. Every number is
// the median over processes that take turns, so a noisy machine disturbs all equally. Exit status 1 if a bar is missed.
//
//   npm run bench                  loading, IDs in one process, and many processes on one machine
//   npm run bench -- NAME          one of them: load, ids, processes; json, seals; or leases, segments, service, which
//                                  start their own servers
//   npm run bench -- --node 26     measures IDs on that Node.js, from npm's package `node`, or a path; may be repeated, and
//                                  then they take turns. Without it: the Node.js that runs this
//   npm run bench -- --svg         also writes what `ids` measured to docs/start/speed.json, and draws it: the pictures
//                                  of docs/

const { parseArgs } = require('node:util')

const SECTIONS = {
  load: './load.js',
  ids: './ids.js',
  json: './json.js',
  processes: './processes.js',
  leases: './leases.mjs',
  segments: './segments.mjs',
  seals: './seals.js',
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
