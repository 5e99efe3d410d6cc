'use strict'

// Preloaded (`--require`) where a test wants to know what the environment says by itself: the files by which a container is
// known are hidden, since machines that run tests are often containers.

const fs = require('node:fs')

const HIDDEN = ['/.dockerenv', '/run/.containerenv', '/proc/1/cgroup']
const { existsSync, readFileSync } = fs
fs.existsSync = (path) => !HIDDEN.includes(path) && existsSync(path)
fs.readFileSync = (path, ...rest) => readFileSync(HIDDEN.includes(path) ? '/dev/null' : path, ...rest)
