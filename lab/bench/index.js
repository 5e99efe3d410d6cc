'use strict'

// `npm run bench`: what each piece of work costs, compared with others, and whether we keep our promises. Every number is
// the median over processes that take turns, so a noisy machine disturbs all equally. Exit status 1 if a bar is missed.
//
//   npm run bench                  loading, IDs in one process, and many processes on one machine
//   npm run bench -- NAME          one of them: load, ids, processes; json, seals; or leases, segments, service, which
//                                  start their own servers

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

async function main(names) {
  for (const name of names.length > 0 ? names : USUAL) {
    const file = SECTIONS[name]
    if (file === undefined)
      throw new Error(`there is no benchmark '${name}': there are ${Object.keys(SECTIONS).join(', ')}`)
    const { run } = await import(file)
    await run()
  }
}

main(process.argv.slice(2))
