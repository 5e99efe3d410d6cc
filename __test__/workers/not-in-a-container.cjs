'use strict'

// Preloaded (`--require`) where a test wants the default folder: machines that run tests are often containers, in which
// join() refuses it. This takes away all signs by which lib/files/container.ts knows one.

const fs = require('node:fs')

const VARIABLES = ['container', 'KUBERNETES_SERVICE_HOST', 'AWS_LAMBDA_FUNCTION_NAME', 'K_SERVICE', 'CLOUD_RUN_JOB']
for (const name of [...VARIABLES, 'FUNCTIONS_WORKER_RUNTIME', 'VERCEL']) delete process.env[name]

const SIGNS = ['/.dockerenv', '/run/.containerenv', '/proc/1/cgroup', '/proc/self/mountinfo']
const { existsSync, readFileSync } = fs
fs.existsSync = (file) => !SIGNS.includes(file) && existsSync(file)
fs.readFileSync = (file, ...options) => (SIGNS.includes(file) ? '' : readFileSync(file, ...options))

// The namespaces of the machine itself: a test may run in a container, or in a namespace of its own.
const NAMESPACES = { '/proc/self/ns/pid': 'pid:[4026531836]', '/proc/self/ns/cgroup': 'cgroup:[4026531835]' }
const { readlinkSync } = fs
fs.readlinkSync = (path, ...rest) => NAMESPACES[path] ?? readlinkSync(path, ...rest)
