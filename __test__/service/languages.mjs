// The clients of examples/clients: how each is prepared and run, and its requirements. Every program takes
// `one|json|bytes|many NAME N URL...` and prints IDs, one per line.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findProgram } from '../servers/server.mjs'

const run = promisify(execFile)
const CLIENTS = fileURLToPath(new URL('../../examples/clients', import.meta.url))
export const pathOf = (...names) => join(CLIENTS, ...names)

/** How a shell script does what the programs do; it reads JSON with sed. */
const CURL = {
  one: (name, _n, urls) => [pathOf('curl', 'ids.sh'), name, '1', ...urls],
  bytes: (name, n, urls) => [pathOf('curl', 'ids.sh'), name, n, ...urls],
  json: (name, n, [url]) => [
    '-c',
    'curl --fail-with-body -sS -X POST -H "Authorization: Bearer $FLAKEFORGE_TOKEN" "$1" | grep -o \'"[0-9]*"\' | tr -d \'"\'',
    'sh',
    `${url}/v1/ids/${name}?n=${n}`,
  ],
  many: (name, n, urls) => [
    '-c',
    `set -e; i=0; while [ $i -lt ${n / 1000} ]; do "$0" ${name} 1000 "$@"; i=$((i + 1)); done`,
    pathOf('curl', 'ids.sh'),
    ...urls,
  ],
}

/**
 * `requires`: programs; without them the client's tests are skipped, or fail where `isNeeded` and servers are required.
 * `prepare()` returns how a program is run: `[command, ...arguments]` by its task.
 */
export const LANGUAGES = [
  {
    name: 'python',
    requires: ['python3'],
    isNeeded: true,
    prepare: () => (how, name, n, urls) => ['python3', '-B', pathOf('python', 'example.py'), how, name, n, ...urls],
  },
  {
    name: 'curl',
    requires: ['curl', 'sh'],
    isNeeded: true,
    prepare: () => (how, name, n, urls) => ['sh', ...CURL[how](name, n, urls)],
  },
  {
    name: 'go',
    requires: ['go'],
    prepare: async (folder) => {
      await run('go', ['build', '-o', join(folder, 'ids'), '.'], { cwd: pathOf('go') })
      return (how, name, n, urls) => [join(folder, 'ids'), how, name, n, ...urls]
    },
  },
  {
    name: 'java',
    requires: ['java', 'javac'],
    prepare: async (folder) => {
      await run('javac', ['-Xlint:all', '-Werror', '-d', folder, pathOf('java', 'FlakeForgeIds.java')])
      const flags = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto', '-cp', folder]
      return (how, name, n, urls) => ['java', ...flags, 'FlakeForgeIds', how, name, n, ...urls]
    },
  },
]

/** Whether a language's tests can run; a loud message where they cannot, an error where they must. */
export function isThere({ name, requires, isNeeded }) {
  const missing = requires.filter((program) => findProgram(program) === undefined)
  if (missing.length === 0) return true
  const message = `${missing.join(' and ')} not installed: the client in ${name} is not tested`
  if (isNeeded && process.env.FLAKEFORGE_REQUIRE_SERVERS === '1') throw new Error(message)
  console.warn(`\n!!! SKIPPED: ${message} !!!\n`)
  return false
}
