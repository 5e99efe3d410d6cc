// The libraries of the matrix, in the versions of package-lock.json. They are installed without their scripts.

import { existsSync, readFileSync, statSync } from 'node:fs'
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

/** The tests of this repository use some of them too, in the same version. */
function isOfTheRepository({ package: name, version }) {
  const manifest = join(folder, '..', '..', 'node_modules', name, 'package.json')
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version
}

export function install(libraries) {
  if (!isInstalled() && !libraries.every(isOfTheRepository))
    npm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], folder)
}
