// The libraries of the matrix, as package-lock.json has them. None runs a script of its own while it is installed.

import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const { npm } = createRequire(import.meta.url)('../../scripts/pack.js')
const folder = import.meta.dirname

/** npm writes its own lock file into node_modules. If that is missing, or older than ours, install. */
function isInstalled() {
  const installed = join(folder, 'node_modules', '.package-lock.json')
  if (!existsSync(installed)) return false
  return statSync(installed).mtimeMs >= statSync(join(folder, 'package-lock.json')).mtimeMs
}

export function install() {
  if (!isInstalled()) npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], folder)
}
