// Finds out whether this process runs in a container (a cloud function does too): no other container sees its default
// folder.

const { existsSync, readFileSync } = process.getBuiltinModule('node:fs')

const MARKS = ['/.dockerenv', '/run/.containerenv'] // Docker's and Podman's
const CGROUP = /\/(?:docker|kubepods|containerd|lxc|podman|libpod)[/.-]/
/** Environment variables that platforms set: Podman and systemd, Kubernetes, then those that run functions. */
const VARIABLES = [
  ...['container', 'KUBERNETES_SERVICE_HOST'],
  ...['AWS_LAMBDA_FUNCTION_NAME', 'K_SERVICE', 'CLOUD_RUN_JOB', 'FUNCTIONS_WORKER_RUNTIME', 'VERCEL'],
]

/** The sign that this is a container; undefined if there is none. */
export function signOfContainer() {
  const variable = VARIABLES.find((name) => process.env[name])
  if (variable !== undefined) return `the environment variable ${variable} is set`
  const mark = MARKS.find((path) => existsSync(path))
  if (mark !== undefined) return `there is a file ${mark}`
  try {
    return CGROUP.test(readFileSync('/proc/1/cgroup', 'utf8')) ? '/proc/1/cgroup says so' : undefined
  } catch {
    return undefined // no such file: this is not Linux
  }
}
