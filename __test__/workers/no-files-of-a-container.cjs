'use strict'

// Loaded where a test wants to know what the namespaces say by themselves: the files by which a container is known are hidden.

const fs = require('node:fs')

const HIDDEN = ['/.dockerenv', '/run/.containerenv', '/proc/1/cgroup', '/proc/self/mountinfo']
const { existsSync, readFileSync } = fs
fs.existsSync = (path) => !HIDDEN.includes(path) && existsSync(path)
fs.readFileSync = (path, ...rest) => readFileSync(HIDDEN.includes(path) ? '/dev/null' : path, ...rest)
