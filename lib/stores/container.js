'use strict'

// Whether this process runs in a container, or in an instance of a function, which is one too: the default folder there is
// one that no other process sees.

const { existsSync, readFileSync } = require('node:fs')

const MARKS = ['/.dockerenv', '/run/.containerenv'] // Docker's and Podman's
const CGROUP = /\/(?:docker|kubepods|containerd|lxc|podman|libpod)[/.-]/
/** What platforms set in the environment: Podman and systemd, Kubernetes, then those that run functions. */
const VARIABLES = [
  ...['container', 'KUBERNETES_SERVICE_HOST'],
  ...['AWS_LAMBDA_FUNCTION_NAME', 'K_SERVICE', 'CLOUD_RUN_JOB', 'FUNCTIONS_WORKER_RUNTIME', 'VERCEL'],
]

/** What says that this is a container; undefined: nothing does. */
function signOfContainer() {
  const variable = VARIABLES.find((name) => process.env[name])
  if (variable !== undefined) return `the environment variable ${variable} is set`
  const mark = MARKS.find((path) => existsSync(path))
  if (mark !== undefined) return `there is a file ${mark}`
  try {
    return CGROUP.test(readFileSync('/proc/1/cgroup', 'utf8')) ? '/proc/1/cgroup says so' : undefined
  } catch {
    return undefined // no such file: no Linux
  }
}

module.exports = { signOfContainer }
