// A copy of the present repository, with uncommitted changes and a history of one commit, to try releases in. It always
// has something to release, whatever the changelog says at the moment. It has no links back to the repository, except
// for its node_modules.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')
const ENTRY = '## [Unreleased]\n\n### Added\n\n- An entry of the test.\n'

/** Git with settings that do not depend on this machine's. */
function git(folder, ...args) {
  const settings = {
    'user.name': 'Test',
    'user.email': 'test@example.com',
    'commit.gpgSign': 'false',
    'tag.gpgSign': 'false',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return execFileSync('git', [...flags, ...args], { cwd: folder, encoding: 'utf8' }).trim()
}

const files = () =>
  git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard')
    .split('\0')
    .filter((name) => name && fs.existsSync(path.join(root, name)))

function cloneTo(folder) {
  for (const name of files()) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.copyFileSync(path.join(root, name), path.join(folder, name))
  }
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction')
  fs.appendFileSync(path.join(folder, '.gitignore'), 'node_modules\n') // a link is not a folder
  const changelog = path.join(folder, 'CHANGELOG.md')
  fs.writeFileSync(changelog, fs.readFileSync(changelog, 'utf8').replace('## [Unreleased]\n', ENTRY))
  git(folder, 'init', '--quiet', '--initial-branch', 'main')
  git(folder, 'add', '--all')
  git(folder, 'commit', '--quiet', '--message', 'A copy')
  return folder
}

module.exports = { cloneTo, git }
