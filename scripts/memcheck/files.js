'use strict'

// Which test files `npm run memcheck` runs: those of the rooms and of the command that need no server. It must never need
// a list that somebody forgets: a file needs a server if it imports one, or something that does.

const fs = require('node:fs')
const path = require('node:path')

const FOLDERS = ['layout', 'generator', 'files', 'lease', 'command'] // the others test what is not the addon
const IMPORTS = /(?:from|import|import\()\s*'(\.[^']+)'/g

/** Whether a file is in `__test__/servers`, or imports one of it; `seen` ends the search in a circle. */
function needsServer(file, servers, seen = new Set()) {
  if (file.startsWith(servers + path.sep)) return true
  if (seen.has(file) || !fs.existsSync(file)) return false
  seen.add(file)
  const imported = [...fs.readFileSync(file, 'utf8').matchAll(IMPORTS)].map(([, name]) => path.join(file, '..', name))
  return imported.some((name) => needsServer(name, servers, seen))
}

/** The test files below `root` that need no server, as paths from there. */
function testFiles(root) {
  const tests = path.join(root, '__test__')
  const names = FOLDERS.flatMap((folder) =>
    fs.readdirSync(path.join(tests, folder), { recursive: true }).map((name) => path.join(tests, folder, name)),
  )
  const files = names.filter((name) => name.endsWith('.test.mjs') && !needsServer(name, path.join(tests, 'servers')))
  return files.map((name) => path.relative(root, name)).sort()
}

module.exports = { testFiles }
