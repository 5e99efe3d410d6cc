'use strict'

// Preloaded (`--require`) where a test wants to know what the environment alone says: the files and namespaces that
// identify a container are hidden, since machines that run tests are often containers.

require('./no-files-of-a-container.cjs')
const fs = require('node:fs')

const NAMESPACES = { '/proc/self/ns/pid': 'pid:[4026531836]', '/proc/self/ns/cgroup': 'cgroup:[4026531835]' }
const { readlinkSync } = fs
fs.readlinkSync = (path, ...rest) => NAMESPACES[path] ?? readlinkSync(path, ...rest)
