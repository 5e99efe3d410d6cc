// flakeforge-server as its users have it: the three tarballs installed in an empty folder by npm itself, then `npx
// flakeforge-server`, whose page and IDs are checked. It finds nothing of this repository.

const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { packServer } = require('../../../scripts/pack.js')
const { packed, run } = require('../project.js')
const { start } = require('./start.js')

const QUIET = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']

/** Installs the tarballs; the published main package would install the platform's package itself. */
function install(folder) {
  const tarballs = [...Object.values(packed()), packServer(path.join(folder, 'tarballs'))]
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n')
  return run('npm', ['install', ...QUIET, ...tarballs], folder)
}

async function use(url, report) {
  const response = await fetch(`${url}/v1/ids/default?n=3`, { method: 'POST' })
  const { ids } = await response.json()
  report('an ID of the installed server', { ok: new Set(ids).size === 3, output: JSON.stringify(ids) })
  for (const file of ['/', '/page.css', '/page.js', '/icon.svg']) {
    const { status } = await fetch(url + file)
    report(`its page: ${file}`, { ok: status === 200, output: `status ${status}` })
  }
}

/** Without the optional packages, a store's address is an error that names the required one. */
function useWithoutClients(folder, report) {
  const pruned = run('npm', ['prune', '--omit=optional', ...QUIET], folder)
  const ended = run('npx', ['--no', '--', 'flakeforge-server', '--store', 'redis://127.0.0.1:1'], folder, {
    timeout: 60_000,
  })
  const ok = pruned.ok && ended.status === 2 && ended.output.includes('`npm install ioredis`')
  report('--omit=optional: a store is an error that names what to install', { ok, output: ended.output })
}

module.exports = async (report) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-server-'))
  try {
    const installed = install(folder)
    report('npm install of the tarballs, in an empty folder', installed)
    if (!installed.ok) return
    const { child, url } = await start(folder)
    await use(await url, report)
    const exit = once(child, 'exit')
    process.kill(-child.pid, 'SIGTERM') // npx and the server: a terminal's Ctrl-C reaches both
    await exit
    report('npx flakeforge-server', { ok: true, output: '' })
    useWithoutClients(folder, report)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
