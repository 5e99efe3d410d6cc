'use strict'

// A copy of the project in which an edit affects nothing else, and the edit of a text. Large folders are not copied:
// builds and packages are links to ours.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')
const LEFT_OUT = ['.git', 'node_modules', 'target', 'artifacts']

/** Copies the project and returns the folder. */
function copyProject() {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-mutants-'))
  const isWanted = (from) => !LEFT_OUT.includes(path.basename(from)) // also the packages of the site and of examples
  fs.cpSync(root, copy, { recursive: true, filter: isWanted, verbatimSymlinks: true })
  linkPackages(copy)
  linkTarget(copy)
  return copy
}

/** Links to builds, such as programs of tests; the build of lib/ is not shared. */
function linkTarget(copy) {
  const [ours, theirs] = [root, copy].map((folder) => path.join(folder, 'target'))
  fs.mkdirSync(ours, { recursive: true })
  fs.mkdirSync(theirs)
  for (const name of fs.readdirSync(ours))
    if (!['rooms', 'declarations', 'dist.json'].includes(name))
      fs.symlinkSync(path.join(ours, name), path.join(theirs, name))
}

/** Links to all installed packages. The workspaces' own links lead into the copy: its server must load the copy's lib. */
function linkPackages(copy) {
  const [ours, theirs] = [root, copy].map((folder) => path.join(folder, 'node_modules'))
  fs.mkdirSync(theirs)
  for (const entry of fs.readdirSync(ours, { withFileTypes: true })) {
    const from = path.join(ours, entry.name)
    fs.symlinkSync(entry.isSymbolicLink() ? fs.readlinkSync(from) : from, path.join(theirs, entry.name))
  }
}

/**
 * The text with `to` in place of `from`; undefined if `from` does not occur exactly once: then the edit is out of date.
 */
function replaceOnce(text, from, to) {
  return text.split(from).length === 2 ? text.replace(from, () => to) : undefined
}

module.exports = { copyProject, replaceOnce }
