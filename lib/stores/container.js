'use strict'

// Whether this process runs in a container, where the default folder is one that no other process sees.

const { existsSync, readFileSync } = require('node:fs')

const MARKS = ['/.dockerenv', '/run/.containerenv'] // Docker's and Podman's
const CGROUP = /\/(?:docker|kubepods|containerd|lxc|podman|libpod)[/.-]/

function isContainer() {
  if (process.env.KUBERNETES_SERVICE_HOST || process.env.container) return true
  if (MARKS.some((path) => existsSync(path))) return true
  try {
    return CGROUP.test(readFileSync('/proc/1/cgroup', 'utf8'))
  } catch {
    return false // no such file: no Linux
  }
}

module.exports = { isContainer }
