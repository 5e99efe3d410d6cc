// Only the weekly workflow runs some programs of scripts/ and lab/, and would notice a missing file too late.

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'

const root = path.join(import.meta.dirname, '..', '..')
const REQUIRED = /\brequire(?:\.resolve)?\('(\.[^'$]*)'\)/g

test('every file that scripts/ and lab/ require exists', (t) => {
  const listed = execFileSync('git', ['ls-files', 'scripts', 'lab'], { cwd: root, encoding: 'utf8' }).split('\n')
  const files = listed.filter((file) => /\.[cm]?js$/.test(file) && fs.existsSync(path.join(root, file)))
  t.true(files.length > 100)
  for (const file of files) {
    const require = createRequire(path.join(root, file))
    for (const [, name] of fs.readFileSync(path.join(root, file), 'utf8').matchAll(REQUIRED))
      t.notThrows(() => require.resolve(name), `${file} requires ${name}`)
  }
})
