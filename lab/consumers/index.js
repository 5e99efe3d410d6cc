// flakeforge as its users have it: packed, installed in projects like theirs, and built by their tools. `node
// lab/consumers/index.js` runs every folder here, with `bundlers` one of them, with `bundlers:esbuild` one kind of it.
// A folder has a check.js that exports an async function `(report, wants)`: it calls `report(name, { ok, output })` for
// each check, and runs only kinds that it `wants(kind)`.

const fs = require('node:fs')
const path = require('node:path')

const all = fs
  .readdirSync(__dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && fs.existsSync(path.join(__dirname, entry.name, 'check.js')))
  .map((entry) => entry.name)

let passed = 0
let failed = 0

/** Reports the result of a check, with its output only if it failed. */
function report(name, { ok, output }) {
  if (ok) passed++
  else failed++
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`)
  if (!ok) console.log(String(output).replace(/^/gm, '    '))
}

/** @param {string} word a folder, or a kind of it as `folder:kind` */
async function check(word) {
  const before = passed + failed
  const [name, wanted] = word.split(':')
  try {
    await require(`./${name}/check.js`)(report, (kind) => wanted === undefined || kind === wanted)
  } catch (error) {
    return report(word, { ok: false, output: error.stack })
  }
  if (passed + failed === before) report(word, { ok: false, output: 'it ran no check' })
}

async function main(words) {
  const unknown = words.find((word) => !all.includes(word.split(':')[0]))
  if (unknown !== undefined) {
    console.error(`usage: node lab/consumers/index.js [${all.join(' | ')}][:KIND]…`)
    process.exitCode = 2
    return
  }
  for (const word of words.length > 0 ? words : all) await check(word)
  console.log(`consumers: ${passed} ok, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
}

main(process.argv.slice(2))
