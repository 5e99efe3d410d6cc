'use strict'

// `npm run bench`: what each piece of work costs, beside others, and whether we keep our promises. Every number is the
// median over processes that take turns, so that a noisy machine disturbs all alike. Exit status 1 when a bar is missed.
//
//   npm run bench                  IDs in one process, and many processes on one machine
//   npm run bench -- NAME          one of them: ids, processes

const SECTIONS = ['ids', 'processes']

async function main(names) {
  for (const name of names.length > 0 ? names : SECTIONS) {
    if (!SECTIONS.includes(name)) throw new Error(`there is no benchmark '${name}': there are ${SECTIONS.join(', ')}`)
    await require(`./${name}.js`).run()
  }
}

main(process.argv.slice(2))
