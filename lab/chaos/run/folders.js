'use strict'

// The folders of a run: one on a disk, and one in memory if the system has such a file system, because locks, maps and
// syncs are different code there. Both are removed when the run is over.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const TMPFS = 0x01021994
const SHARED_MEMORY = '/dev/shm'
const BUILD = path.join(__dirname, '..', '..', '..', 'target')

const isTmpfs = (folder) => fs.existsSync(folder) && fs.statfsSync(folder).type === TMPFS
const make = (parent) => fs.mkdtempSync(path.join(parent, 'flakeforge-chaos-'))

/** `memory` is undefined if there is none. */
function makeFolders() {
  const disk = make(isTmpfs(os.tmpdir()) ? BUILD : os.tmpdir())
  return { disk, memory: isTmpfs(SHARED_MEMORY) ? make(SHARED_MEMORY) : undefined }
}

function removeFolders(folders) {
  for (const folder of Object.values(folders)) {
    if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true })
  }
}

module.exports = { makeFolders, removeFolders }
