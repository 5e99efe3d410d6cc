// Next to client packages that are too old for a store, flakeforge can still be installed. If a program uses such a
// package, as a given client or by an address, flakeforge names the required version. Each folder is a project with one
// such package.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { npm } = require('../../../scripts/pack.js')
const { packed, project, run } = require('../project.js')

const tooOld = (name, version, first) =>
  new RegExp(`${name} ${version}\\b.*${first} or newer.*npm install ${name}@latest`)
const TAKEN = /^$/

/** The package of each project, the address that it joins with, and the result of each try. */
const PROJECTS = {
  'redis-3': {
    name: 'redis',
    address: 'redis://127.0.0.1:1',
    client: ['ERR_FLAKE_OPTION', tooOld('redis', '3.1.2', '4.3.0')],
    byAddress: ['ERR_FLAKE_STORE', tooOld('redis', '3.1.2', '4.3.0')],
  },
  // A client of this version works.
  'ioredis-4': {
    name: 'ioredis',
    address: 'redis://127.0.0.1:1',
    client: ['taken', TAKEN],
    byAddress: ['ERR_FLAKE_STORE', tooOld('ioredis', '4.30.0', '5.4.0')],
  },
  'pg-7': {
    name: 'pg',
    address: 'postgres://127.0.0.1:1/none',
    client: ['ERR_FLAKE_OPTION', tooOld('pg', '7.18.2', '8.0.3')],
    byAddress: ['ERR_FLAKE_STORE', tooOld('pg', '7.18.2', '8.0.3')],
  },
  'postgres-1': {
    name: 'postgres',
    address: 'postgres://127.0.0.1:1/none',
    client: ['ERR_FLAKE_OPTION', tooOld('postgres', '1.0.2', '3.4.8')],
    byAddress: ['ERR_FLAKE_STORE', tooOld('postgres', '1.0.2', '3.4.8')],
  },
}

/** npm itself decides whether flakeforge fits next to the installed packages. Asking it for a lock file is enough. */
function install(folder) {
  try {
    npm(
      ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', ...Object.values(packed())],
      folder,
    )
    return { ok: true, output: '' }
  } catch (error) {
    return { ok: false, output: error.message }
  }
}

function tries(folder, { name, address, client, byAddress }) {
  const { ok, stdout, output } = run(process.execPath, [path.join(folder, 'programs.js'), name, address], folder)
  if (!ok) return { ok, output }
  const outcomes = JSON.parse(stdout)
  const isAsWanted = ([kind, code, message]) => {
    const [wantedCode, wantedMessage] = kind === 'address' ? byAddress : client
    return code === wantedCode && wantedMessage.test(message)
  }
  return { ok: outcomes.length > 1 && outcomes.every(isAsWanted), output: stdout }
}

/**
 * A copy of the project outside of this repository. Inside it, the project would find the repository's own packages.
 */
function apart(folder) {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-old-clients-'))
  fs.cpSync(folder, copy, { recursive: true })
  fs.copyFileSync(path.join(__dirname, 'programs.js'), path.join(copy, 'programs.js'))
  return copy
}

module.exports = async (report) => {
  for (const [fixture, wanted] of Object.entries(PROJECTS)) {
    const folder = apart(project(path.join(__dirname, fixture)))
    try {
      report(`${fixture}: a client and an address`, tries(folder, wanted))
      report(`${fixture}: npm installs flakeforge next to it`, install(folder))
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  }
}
