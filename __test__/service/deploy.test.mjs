// packages/server/deploy is correct: its options exist, the probes use existing routes, the times of a shutdown fit
// each other, and nothing runs as root or writes.

import { execFileSync, spawnSync } from 'node:child_process'
import fs, { readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import test from 'ava'
import { parseAllDocuments } from 'yaml'
import { writeLock } from '../../scripts/server-lock.js'
import { PROGRAM } from '../servers/flakeforge.mjs'

const root = new URL('../..', import.meta.url)
const textOf = (name) => readFileSync(new URL(name, root), 'utf8')
const deployOf = (name) => textOf(`packages/server/deploy/${name}`)
const documents = (name) => parseAllDocuments(deployOf(name))

const help = execFileSync(process.execPath, [PROGRAM, '--help'], { encoding: 'utf8' })
const [, ...known] = help.split('$').map((text) => /^\w+/.exec(text)[0]) // the variables that the server reads
const dockerfile = deployOf('Dockerfile')
const [compose] = documents('compose.yaml').map((document) => document.toJS())
const objects = documents('kubernetes.yaml').map((document) => document.toJS())
const object = (kind) => objects.find((each) => each.kind === kind)
const pod = object('Deployment').spec.template.spec
const [container] = pod.containers
const envOf = (name) => container.env.find((each) => each.name === name)?.value

/** A variable in a Compose file. */
const expression = (text) => `\${${text}}`

/** An option's default, from --help. */
const defaultOf = (option) => Number(new RegExp(`--${option} .*?\\(default: (\\d+)\\)`, 's').exec(help)[1])

test('the files are valid YAML', (t) => {
  for (const name of ['compose.yaml', 'kubernetes.yaml'])
    for (const { errors, warnings } of documents(name)) t.deepEqual([...errors, ...warnings], [])
  t.deepEqual(objects.map(({ kind }) => kind).sort(), ['Deployment', 'PodDisruptionBudget', 'Service'])
})

test('the server knows every variable in the files', (t) => {
  t.true(known.includes('FLAKEFORGE_STORE') && known.includes('PORT'))
  const ofImage = [...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, words]) => words.split(' '))
  const given = [
    ...ofImage.map((word) => word.split('=')[0]).filter((name) => name !== 'NODE_ENV'),
    ...Object.keys(compose.services.ids.environment),
    ...container.env.map(({ name }) => name),
  ]
  t.true(given.length > 8)
  t.deepEqual(
    given.filter((name) => !known.includes(name)),
    [],
  )
})

test('the image starts the program of the package, and its health check uses a route without a token', (t) => {
  const { name, bin } = JSON.parse(textOf('packages/server/package.json'))
  const [, entry] = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile)
  t.deepEqual(JSON.parse(entry), ['node', `node_modules/${name}/${Object.values(bin)[0]}`])
  t.regex(dockerfile, /^HEALTHCHECK .*\/livez`/m)
  t.regex(dockerfile, /^USER 1000:1000$/m)
  const [, health] = /^HEALTHCHECK .*? CMD (\[.*\])$/m.exec(dockerfile)
  const [, , script] = JSON.parse(health)
  t.throws(() =>
    execFileSync(process.execPath, ['-e', script], { env: { ...process.env, PORT: '1' }, stdio: 'ignore' }),
  )
})

test('probes, ports and selectors match', (t) => {
  const { readinessProbe, livenessProbe, ports } = container
  t.deepEqual([readinessProbe.httpGet.path, livenessProbe.httpGet.path], ['/readyz', '/livez'])
  const health = textOf('packages/server/lib/routes/health.ts')
  for (const { httpGet } of [readinessProbe, livenessProbe]) {
    t.true(health.includes(`'${httpGet.path}'`), httpGet.path)
    t.is(httpGet.port, ports[0].name)
  }
  t.deepEqual(
    [envOf('PORT'), envOf('FLAKEFORGE_SERVER_METRICS_PORT')],
    ports.map((each) => String(each.containerPort)),
  )
  t.is(object('Service').spec.ports[0].targetPort, ports[0].name)
  const labels = { app: 'flakeforge-server' }
  t.deepEqual(object('Deployment').spec.template.metadata.labels, labels)
  t.deepEqual(object('Service').spec.selector, labels)
  t.deepEqual(object('PodDisruptionBudget').spec.selector.matchLabels, labels)
  t.true(object('PodDisruptionBudget').spec.maxUnavailable < object('Deployment').spec.replicas)
})

test('a shutdown has the time that it may take', (t) => {
  const STORE_STEP_MS = 5000 // the longest that a step on a store takes
  const needed = defaultOf('end-ms') + STORE_STEP_MS
  t.true(pod.terminationGracePeriodSeconds * 1000 > needed + Number(envOf('FLAKEFORGE_SERVER_DRAIN_MS')))
  t.true(Number.parseInt(compose.services.ids.stop_grace_period, 10) * 1000 > needed)
})

test('nothing runs as root, nothing is written, and no file contains a secret', (t) => {
  t.like(pod.securityContext, { runAsNonRoot: true, runAsUser: 1000 })
  t.like(container.securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true })
  t.deepEqual(container.securityContext.capabilities, { drop: ['ALL'] })
  t.like(compose.services.ids, { read_only: true, cap_drop: ['ALL'] })
  t.deepEqual(container.env.find(({ name }) => name === 'FLAKEFORGE_STORE').valueFrom, {
    secretKeyRef: { name: 'flakeforge-store', key: 'store' },
  })
  const [{ mountPath }] = container.volumeMounts
  t.is(envOf('FLAKEFORGE_SERVER_TOKEN_FILE'), `${mountPath}/tokens`)
  t.is(compose.services.ids.environment.FLAKEFORGE_SERVER_TOKEN_FILE, `/run/secrets/${compose.services.ids.secrets[0]}`)
})

test('its Redis keeps acknowledged writes, and the guide creates the secrets that the manifests name', (t) => {
  const { command, volumes } = compose.services.redis
  const after = (option) => command[command.indexOf(option) + 1]
  t.deepEqual([after('--appendonly'), after('--maxmemory-policy')], ['yes', 'noeviction'])
  t.deepEqual(volumes, ['redis:/data'])
  const guide = textOf('docs/service/deploy.md')
  for (const words of [
    'create secret generic flakeforge-store --from-literal=store=',
    'create secret generic flakeforge-tokens --from-file=tokens',
    `npx --package flakeforge-server flakeforge create redis://:PASSWORD@localhost ${envOf('FLAKEFORGE_SERVER_NAME')}`,
  ])
    t.true(guide.includes(words), words)
})

test('the guide creates the group of the Compose file with the image', (t) => {
  const { environment } = compose.services.ids
  const { name, bin } = JSON.parse(textOf('package.json'))
  const [, modules] = /^COPY --from=install \S+ (\S+)$/m.exec(dockerfile)
  const program = `${modules}/${name}/${bin.flakeforge}`
  const create = `create ${environment.FLAKEFORGE_STORE} ${environment.FLAKEFORGE_SERVER_NAME}`
  const command = `docker compose run --rm --entrypoint node ids ${program} ${create}\n`
  t.true(textOf('docs/service/deploy.md').includes(command), command)
})

test('every image is named by its digest, which has no default', (t) => {
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
  t.is(bases.length, 2)
  for (const base of bases) t.regex(base, /^node:[\w.-]+@\$\{NODE_DIGEST\}$/)
  t.regex(dockerfile, /^ARG NODE_DIGEST$/m)
  const guide = textOf('docs/service/deploy.md')
  t.true(guide.includes(`imagetools inspect ${bases[0].split('@')[0]}\n`), bases[0])
  t.true(guide.includes('--build-arg NODE_DIGEST=sha256:'))
  const [redis, digest] = compose.services.redis.image.split('@')
  t.is(digest, expression('REDIS_DIGEST:?'))
  t.true(guide.includes(`imagetools inspect ${redis}\n`), redis)
  t.true(guide.includes('echo REDIS_DIGEST=sha256:'))
  t.is(compose.services.ids.image, 'flakeforge-server', 'it is built here')
  t.regex(container.image, /^[\w./-]+@sha256:DIGEST$/)
})

/** Tarballs of this repository's packages, with nothing but a package.json, and the files that install them. */
function lockedImage(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-image-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const manifests = ['package.json', 'packages/server/package.json'].map((name) => JSON.parse(textOf(name)))
  manifests[0].optionalDependencies = { '@flakeforge/binding-of-another-platform': manifests[0].version } // as in a release
  const files = manifests.map(({ devDependencies, workspaces, overrides, ...manifest }) => {
    const file = `${manifest.name}.tgz`
    fs.mkdirSync(path.join(folder, 'package'), { recursive: true })
    fs.writeFileSync(path.join(folder, 'package', 'package.json'), JSON.stringify(manifest))
    execFileSync('tar', ['-czf', file, 'package'], { cwd: folder })
    return file
  })
  writeLock(folder, files)
  return { folder, files, lock: JSON.parse(fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8')) }
}

test('the image installs what this repository has locked, and nothing else', (t) => {
  const { folder, files, lock } = lockedImage(t)
  const { packages } = JSON.parse(textOf('package-lock.json'))
  const { '': own, ...entries } = lock.packages
  t.deepEqual(
    Object.values(own.dependencies),
    files.map((file) => `file:${file}`),
  )
  t.true(Object.keys(entries).length > 80)
  t.deepEqual(entries['node_modules/flakeforge'].optionalDependencies, {}, 'npm ci would miss them')
  for (const [place, { version, integrity, resolved, dev }] of Object.entries(entries)) {
    t.regex(integrity ?? '', /^sha512-/, place)
    t.is(dev, undefined, place)
    if (!resolved?.startsWith('file:'))
      t.deepEqual([version, integrity], [packages[place].version, packages[place].integrity])
  }
  // npm finds all that the packages need in it, and nothing that they do not need.
  const { status, stdout } = spawnSync('npm', ['ls', '--all', '--package-lock-only', '--json'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  t.is(status, 0, stdout)
  t.is(JSON.parse(stdout).problems, undefined)
  const [install] = dockerfile.match(/^RUN .*$/m)
  t.regex(install, /^RUN npm ci --omit=dev --ignore-scripts /)
  t.regex(dockerfile, /^COPY \*\.tgz package\.json package-lock\.json \.\/$/m)
  t.notRegex(dockerfile, /npm (?:install|i)\b/)
})
