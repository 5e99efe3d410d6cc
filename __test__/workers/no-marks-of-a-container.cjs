'use strict'

// Preloaded (`--require`) where a test wants to know what the environment says by itself: the files by which a container is
// known are hidden, since machines that run tests are often containers.

const fs = require('node:fs')

const HIDDEN = ['/.dockerenv', '/run/.containerenv', '/proc/1/cgroup', '/proc/self/mountinfo']
const { existsSync, readFileSync } = fs
fs.existsSync = (path) => !HIDDEN.includes(path) && existsSync(path)
fs.readFileSync = (path, ...rest) => readFileSync(HIDDEN.includes(path) ? '/dev/null' : path, ...rest)

// The namespaces of the machine itself: a test may run in a container, or in a namespace of its own.
const NAMESPACES = { '/proc/self/ns/pid': 'pid:[4026531836]', '/proc/self/ns/cgroup': 'cgroup:[4026531835]' }
const { readlinkSync } = fs
fs.readlinkSync = (path, ...rest) => NAMESPACES[path] ?? readlinkSync(path, ...rest)
