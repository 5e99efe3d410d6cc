// The documents do what they say: every JavaScript block of the README and of docs/ runs, as a module in a folder where
// flakeforge is installed, and prints what the comment behind its console.log says.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'

const root = path.join(import.meta.dirname, '..')
const documents = ['README.md', ...readdirSync(path.join(root, 'docs')).map((file) => path.join('docs', file))]

function blocks(document) {
  const text = readFileSync(path.join(root, document), 'utf8')
  return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code)
}

let folder
test.before(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'flakeforge-documents-'))
  await fs.mkdir(path.join(folder, 'node_modules'))
  const link = (from, name) => fs.symlink(from, path.join(folder, 'node_modules', name), 'junction')
  await Promise.all([link(root, 'flakeforge'), link(path.join(root, 'node_modules', 'bson'), 'bson')])
})
test.after.always(() => folder && fs.rm(folder, { recursive: true, maxRetries: 5 }))

/** What console.log lines promise: comments that begin with a value; what stands behind a … is not compared. */
function promises(code) {
  const lines = code.split('\n').filter((line) => line.startsWith('console.log('))
  return lines.map((line) => /\/\/ ((?:-?\d|0x|true|false).*)$/.exec(line)?.[1])
}

const agrees = (promised, printed) => promised.startsWith(printed) || printed.startsWith(promised.replace(/ ?….*$/, ''))

let checked = 0
for (const document of documents) {
  for (const [i, code] of blocks(document).entries()) {
    test.serial(`${document}, block ${i + 1}`, async (t) => {
      const file = path.join(folder, `${path.basename(document)}-${i}.mjs`)
      await fs.writeFile(file, code)
      // A place for join(), which refuses to choose one in a container.
      const env = { ...process.env, FLAKEFORGE_STORE: `file:${path.join(folder, 'slots')}` }
      const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
      const printed = stdout.split('\n')
      for (const [line, promised] of promises(code).entries()) {
        if (promised === undefined) continue
        checked++
        t.true(agrees(promised, printed[line]), `'${promised}' is said, '${printed[line]}' is printed`)
      }
      t.pass()
    })
  }
}

test.serial('there were promises to check', (t) => {
  t.true(checked >= 10, `only ${checked}`)
})
