'use strict'

// `npm run bench`: what each piece of work costs, compared with others, and whether we keep our promises. Every number is
// the median over processes that take turns, so a noisy machine disturbs all equally. Exit status 1 if a bar is missed.
//
//   npm run bench                  loading, IDs in one process, and many processes on one machine
//   npm run bench -- NAME          one of them: load, ids, processes; json, seals; or leases, segments, service, which
//                                  start their own servers
//   npm run bench -- --svg         also writes what `ids` measured to docs/start/speed.json, and draws it: the pictures
//                                  of docs/

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
const USUAL = ['load', 'ids', 'processes'] // what needs no server

async function runAll(names) {
  for (const name of names) {
    const { run } = await import(SECTIONS[name])
    await run()
  }
}

async function main(args) {
  const isDrawn = args.includes('--svg')
  const named = args.filter((arg) => arg !== '--svg')
  const unknown = named.find((name) => !(name in SECTIONS))
  if (unknown !== undefined)
    throw new Error(`there is no benchmark '${unknown}': there are ${Object.keys(SECTIONS).join(', ')}`)
  const names = named.length > 0 ? named : USUAL
  if (isDrawn && !names.includes('ids')) throw new Error(`--svg draws what 'ids' measures, so it needs that`)
  await runAll(names)
  if (isDrawn) require('./ids.js').draw()
}

main(process.argv.slice(2))
