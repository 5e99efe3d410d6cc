'use strict'

// Loaded where a test wants to know what the namespaces alone say: the files that identify a container are hidden. With
// SHOW_MOUNTS in the environment, the mounts are not.

const fs = require('node:fs')

const HIDDEN = ['/.dockerenv', '/run/.containerenv', '/proc/1/cgroup']
if (!process.env.SHOW_MOUNTS) HIDDEN.push('/proc/self/mountinfo')
const { existsSync, readFileSync } = fs
fs.existsSync = (path) => !HIDDEN.includes(path) && existsSync(path)
fs.readFileSync = (path, ...rest) => readFileSync(HIDDEN.includes(path) ? '/dev/null' : path, ...rest)
