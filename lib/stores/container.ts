// Detects whether this process runs in a container (or a cloud function), whose default folder no other container sees. On
// Linux, if a sign is missing that would decide it, the process may be in one.

import { isThere } from '../native/is-there.ts'

const { readFileSync, readlinkSync } = process.getBuiltinModule('node:fs')

const MARKS = ['/.dockerenv', '/run/.containerenv'] // Docker's and Podman's
const CGROUP = /\/(?:docker|kubepods|containerd|lxc|podman|libpod)[/.-]/
/** Environment variables of platforms: Podman and systemd, Kubernetes, then platforms for functions. */
const VARIABLES = [
  'container',
  'KUBERNETES_SERVICE_HOST',
  'AWS_LAMBDA_FUNCTION_NAME',
  'K_SERVICE',
  'CLOUD_RUN_JOB',
  'FUNCTIONS_WORKER_RUNTIME',
  'VERCEL',
]

/**
 * The namespaces that the kernel itself creates, by the inode numbers in include/linux/proc_ns.h. Every container engine
 * gives a container different ones by default; containerd on cgroup v2 leaves no other sign. The namespaces for mounts and
 * host names are no sign: systemd gives services their own (PrivateTmp, ProtectHostname), and so does snap.
 */
const INITIAL = { pid: 0xef_ff_ff_fc, cgroup: 0xef_ff_ff_fb }

/** Where WSL keeps the sockets of a distribution. A container in WSL has the same kernel, and no such folder. */
const OF_WSL = '/run/WSL'

/** The sign that this is, or may be, a container; undefined without one. */
export function signOfContainer() {
  const variable = VARIABLES.find((name) => process.env[name])
  if (variable !== undefined) return `the environment variable ${variable} is set`
  const mark = MARKS.find(isThere)
  if (mark !== undefined) return `the file ${mark} exists`
  return process.platform === 'linux' || process.platform === 'android' ? signInProc() : undefined
}

function signInProc() {
  try {
    if (CGROUP.test(readFileSync('/proc/1/cgroup', 'utf8'))) return '/proc/1/cgroup names a container engine'
  } catch {
    // a hidden process 1 (hidepid), or Node's permissions refuse the read: no sign either way
  }
  return (isWsl() ? undefined : signInNamespaces()) ?? (isOverlay() ? 'its root file system is an overlay' : undefined)
}

/** To its users a distribution in WSL is a machine, and WSL gives each distribution its own namespaces. */
function isWsl() {
  try {
    return isThere(OF_WSL) && /microsoft/i.test(readFileSync('/proc/version', 'utf8'))
  } catch {
    return false
  }
}

function signInNamespaces() {
  for (const [name, initial] of Object.entries(INITIAL)) {
    const path = `/proc/self/ns/${name}`
    const found = targetOf(path)
    if (found === undefined && name === 'cgroup') continue // a kernel without cgroups
    if (found === undefined) return `${path} cannot be read, so it may be one`
    if (found !== `${name}:[${initial}]`) return `${path} is ${found}, not the one of the machine`
  }
}

function targetOf(path: string) {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** Images are layers of an overlay: the sign of a container that shares the namespaces of its machine. */
function isOverlay() {
  try {
    return /^(?:\S+ ){4}\/ .* - (?:fuse\.)?(?:fuse-)?overlay(?:fs)? /m.test(
      readFileSync('/proc/self/mountinfo', 'utf8'),
    )
  } catch {
    return false
  }
}
