// sqlite3, Sequelize's package for SQLite, contains no binary: its install script downloads one, or compiles it. The
// other packages are installed without their scripts, so only this one runs, here, once.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(import.meta.url)
const { npm } = require('../../../../scripts/pack.js')
const databases = join(import.meta.dirname, '../..')

function isBuilt() {
  try {
    require('sqlite3')
    return true
  } catch {
    return false
  }
}

/** The C headers of the Node.js that runs npm. Without them node-gyp downloads some. */
function ownHeaders() {
  const node = execFileSync('node', ['-p', 'process.execPath'], { encoding: 'utf8' }).trim()
  const folder = join(node, '../..')
  return existsSync(join(folder, 'include/node/node_api.h')) ? [`--nodedir=${folder}`] : []
}

if (!isBuilt()) {
  npm(['rebuild', 'sqlite3', '--ignore-scripts=false', '--loglevel=error', ...ownHeaders()], databases)
  if (!isBuilt()) throw new Error('npm rebuild sqlite3 has made no binary: see what its install script printed')
}
