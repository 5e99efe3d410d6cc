// Builds kube-apiserver, and the etcd that it is released for, from their Go modules into target/kubernetes: once for a version. It
// takes 15 minutes on two cores, and 3 GB.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const VERSION = 'v1.37.2'
/** Under which the modules that Kubernetes shares with others are published. In its go.mod, they are folders. */
const STAGED = VERSION.replace('v1.', 'v0.')

const folder = join(import.meta.dirname, '..', '..', '..', 'target', 'kubernetes')
const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' }
const options = { cwd: folder, env, encoding: 'utf8', stdio: 'pipe', maxBuffer: 2 ** 26 }
const go = (...args) => execFileSync('go', args, options).trim()

/** A module with exactly the dependencies of Kubernetes. */
function writeModule() {
  const { GoMod } = JSON.parse(go('mod', 'download', '-json', `k8s.io/kubernetes@${VERSION}`))
  const its = readFileSync(GoMod, 'utf8')
    .replace(/^module .*/m, `module lab\n\nrequire k8s.io/kubernetes ${VERSION}`)
    .replaceAll(/=> \.\/staging\/src\/(\S+)/g, `=> $1 ${STAGED}`)
  writeFileSync(join(folder, 'go.mod'), its)
}

function build(name, path, ...flags) {
  const program = join(folder, `${name}-${VERSION}`)
  if (!existsSync(program)) {
    console.log(`Building ${name} …`)
    go('build', '-p', '2', '-trimpath', '-ldflags', ['-s', '-w', ...flags].join(' '), '-o', program, path)
  }
  return program
}

/** The paths of the programs. */
export function buildPrograms() {
  mkdirSync(folder, { recursive: true })
  const programs = ['kube-apiserver', 'etcd', 'etcdutl'].map((name) => join(folder, `${name}-${VERSION}`))
  if (!programs.every((program) => existsSync(program))) {
    writeFileSync(join(folder, 'go.mod'), 'module lab\n')
    writeModule()
    const etcd = go('list', '-m', '-f', '{{.Version}}', 'go.etcd.io/etcd/server/v3')
    go('get', `go.etcd.io/etcd/etcdutl/v3@${etcd}`)
  }
  return {
    apiserver: build(
      'kube-apiserver',
      'k8s.io/kubernetes/cmd/kube-apiserver',
      `-X k8s.io/component-base/version.gitVersion=${VERSION}`,
    ),
    etcd: build('etcd', 'go.etcd.io/etcd/server/v3'),
    etcdutl: build('etcdutl', 'go.etcd.io/etcd/etcdutl/v3'),
  }
}
