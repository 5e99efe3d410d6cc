// The guides are correct: every JavaScript block of docs/ runs, as a module in a folder where flakeforge is installed,
// and prints what the comment after its console.log shows. lab/consumers/readme follows the README with a packed
// install.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { agrees, blocks, promises, shape } from '../support/documents.mjs'

const root = path.join(import.meta.dirname, '..', '..')
const documents = readdirSync(path.join(root, 'docs'), { recursive: true })
  .filter((file) => file.endsWith('.md'))
  .map((file) => path.join('docs', file))

/** The JavaScript blocks of a document. */
function programs(document) {
  const all = blocks(readFileSync(path.join(root, document), 'utf8'))
  return all.filter(({ language }) => language === 'js').map(({ code }) => code)
}

let folder
test.before(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'flakeforge-documents-'))
  const inner = path.join(folder, 'programs')
  await fs.mkdir(path.join(inner, 'node_modules'), { recursive: true })
  // Other packages that some blocks compare with are found in the folder above.
  await fs.symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction')
  await fs.symlink(root, path.join(inner, 'node_modules', 'flakeforge'), 'junction')
})
test.after.always(() => folder && fs.rm(folder, { recursive: true, maxRetries: 5 }))

let checked = 0
for (const document of documents) {
  for (const [i, code] of programs(document).entries()) {
    test.serial(`${document}, block ${i + 1}`, async (t) => {
      const file = path.join(folder, 'programs', `${path.basename(document)}-${i}.mjs`)
      await fs.writeFile(file, code)
      // A place for join(), which refuses to choose one in a container; each document has its own.
      const slots = path.join(folder, `slots-${path.basename(document, '.md')}`)
      const env = { ...process.env, FLAKEFORGE_STORE: `file:${slots}` }
      const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
      const printed = stdout.split('\n').slice(0, -1)
      const promised = promises(code)
      t.is(printed.length, promised.length, `one line for each console.log:\n${stdout}`)
      for (const [line, value] of promised.entries()) {
        if (value === undefined) continue
        checked++
        t.true(agrees(value, printed[line]), `'${value}' is promised, '${printed[line]}' is printed`)
      }
    })
  }
}

test('an output matches its promise only as a whole, or up to its …', (t) => {
  t.true(agrees('12', '12'))
  t.true(agrees('12 …', '12 34'))
  for (const printed of ['', '1', '123', '12 34']) t.false(agrees('12', printed), printed)
  for (const printed of ['', '1', '12', '123 4']) t.false(agrees('12 …', printed), printed)
})

test('outputs have the same shape only if they differ just in numbers and dates', (t) => {
  t.is(
    shape('<Buffer 68 7e ff> 12n\n 2026-11-20T13:42:34.718Z  worker 7\n'),
    shape('<Buffer 00 00 00> 5n\n 2027-01-01T00:00:00.000Z worker 31'),
  )
  for (const other of ['<Buffer 68 7e> 12n', '<Buffer 68 7e ff> 12n x', ''])
    t.not(shape('<Buffer 68 7e ff> 12n'), shape(other))
})

test.serial('the documents contain promises to check', (t) => {
  t.true(checked >= 15, `only ${checked}`)
})
