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

/** What each console.log promises: the value that its comment begins with, up to a colon. Undefined: it promises none. */
function promises(code) {
  const lines = code.split('\n').filter((line) => line.startsWith('console.log('))
  return lines.map((line) => /\/\/ ((?:-?\d|0x|true|false|<).*?)(?:: .*)?$/.exec(line)?.[1])
}

/** The very text; or what stands before ` …`, and more behind it. */
const agrees = (promised, printed) =>
  promised.endsWith(' …') ? printed.startsWith(promised.slice(0, -1)) : printed === promised

let checked = 0
for (const document of documents) {
  for (const [i, code] of blocks(document).entries()) {
    test.serial(`${document}, block ${i + 1}`, async (t) => {
      const file = path.join(folder, `${path.basename(document)}-${i}.mjs`)
      await fs.writeFile(file, code)
      // A place for join(), which refuses to choose one in a container.
      const env = { ...process.env, FLAKEFORGE_STORE: `file:${path.join(folder, 'slots')}` }
      const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
      const printed = stdout.split('\n').slice(0, -1)
      const promised = promises(code)
      t.is(printed.length, promised.length, `one line for each console.log:\n${stdout}`)
      for (const [line, value] of promised.entries()) {
        if (value === undefined) continue
        checked++
        t.true(agrees(value, printed[line]), `'${value}' is said, '${printed[line]}' is printed`)
      }
    })
  }
}

test('an output agrees with what was promised only as a whole, or up to its …', (t) => {
  t.true(agrees('12', '12'))
  t.true(agrees('12 …', '12 34'))
  for (const printed of ['', '1', '123', '12 34']) t.false(agrees('12', printed), printed)
  for (const printed of ['', '1', '12', '123 4']) t.false(agrees('12 …', printed), printed)
})

test.serial('there were promises to check', (t) => {
  t.true(checked >= 15, `only ${checked}`)
})
