// flakeforge as its users have it: packed, installed in projects like theirs, and built by their tools. `node
// consumers/index.js` runs every folder here, `node consumers/index.js bundlers` one of them. A folder has a check.js
// that exports an async function: it calls `report(name, { ok, output })` for each thing it tries.

const fs = require('node:fs')
const path = require('node:path')

const all = fs
  .readdirSync(__dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && fs.existsSync(path.join(__dirname, entry.name, 'check.js')))
  .map((entry) => entry.name)

let passed = 0
let failed = 0

/** Reports how one thing went, with its output only if it failed. */
function report(name, { ok, output }) {
  if (ok) passed++
  else failed++
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`)
  if (!ok) console.log(String(output).replace(/^/gm, '    '))
}

async function check(name) {
  const before = passed + failed
  try {
    await require(`./${name}/check.js`)(report)
  } catch (error) {
    return report(name, { ok: false, output: error.stack })
  }
  if (passed + failed === before) report(name, { ok: false, output: 'it tried nothing' })
}

async function main(names) {
  const unknown = names.find((name) => !all.includes(name))
  if (unknown !== undefined) {
    console.error(`usage: node consumers/index.js [${all.join(' | ')}]…`)
    process.exitCode = 2
    return
  }
  for (const name of names.length > 0 ? names : all) await check(name)
  console.log(`consumers: ${passed} ok, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
}

main(process.argv.slice(2))
