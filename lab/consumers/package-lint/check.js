// Checks the tarballs with two linters for packages: publint (does package.json describe the files?) and
// arethetypeswrong (do the types match what require and import return, for each way in which TypeScript resolves
// them?).

const fs = require('node:fs')
const path = require('node:path')
const { packed, project, run } = require('../project.js')

async function lint(folder, tarball) {
  const load = (file) => import(path.join(folder, 'node_modules', 'publint', 'src', file))
  const [{ publint }, { formatMessage }] = await Promise.all([load('index-node.js'), load('utils.js')])
  const { buffer } = new Uint8Array(fs.readFileSync(tarball))
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, level: 'warning', strict: true })
  return { ok: messages.length === 0, output: messages.map((message) => formatMessage(message, pkg)).join('\n') }
}

/** For @flakeforge/binding-wasm32-wasi alone, whose bundlers read "exports"; TypeScript's oldest resolution does not. */
const OUR_OWN = ['--exclude-entrypoints', './with-addon']

module.exports = async (report) => {
  const folder = project(__dirname)
  for (const [name, tarball] of Object.entries(packed()))
    report(`publint: the ${name} package`, await lint(folder, tarball))
  const attw = path.join(folder, 'node_modules', '.bin', 'attw')
  report('arethetypeswrong', run(attw, ['--no-emoji', packed().main, ...OUR_OWN], folder))
}
