// A release, from its preparation to a user's install: `npm run release`, then scripts/pack-release.js and
// scripts/publish.js as the workflows run them, to a registry (verdaccio) on this machine that asks no other registry,
// then `npm install flakeforge` in an empty folder, on each version of Node.js. Only this machine's addon is built, of
// that release, so it is also used in the packages of the other platforms, and a text replaces the WebAssembly. Where
// FLAKEFORGE_TARBALLS names a folder of tarballs, those are published and installed.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { createRequire } = require('node:module')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const semver = require('semver')
const { cloneTo } = require('../clone.js')
const { project, run } = require('../project.js')
const { digestsOf } = require('../../../scripts/digests.js')
const { WASM, allPackages, ownPlatform, serverPackage, wasmPackages } = require('../../../scripts/pack.js')
const { TARGETS } = require('../../../scripts/platforms/targets.js')
const runtimes = require('../../../scripts/runtimes.js')

const root = path.join(__dirname, '..', '..', '..')
const { name, version: now, napi } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
/** The tarballs that ci.yml has packed, if those are to be published. */
const PACKED = process.env.FLAKEFORGE_TARBALLS
const version = PACKED ? now : semver.inc(now, 'minor')
const NODES = [20, 22, 24, 26]
const USER = { name: 'flakeforge', password: 'not-a-secret' }

/** The code under test fails at this level of severity; the rest of a report is only shown. */
const verdict = (problems, output = '') => ({ ok: problems.length === 0, output: [...problems, output].join('\n') })

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Starts the registry. It knows no other registry, so everything that it serves was published to it. */
async function startRegistry(tools, folder) {
  const port = await freePort()
  const config = {
    storage: path.join(folder, 'storage'),
    auth: { htpasswd: { file: path.join(folder, 'htpasswd') } },
    packages: { '**': { access: '$all', publish: '$authenticated' } },
    uplinks: {},
    web: { enable: false },
    log: { type: 'stdout', format: 'json', level: 'warn' },
  }
  const file = path.join(folder, 'verdaccio.json') // YAML reads JSON
  fs.writeFileSync(file, JSON.stringify(config))
  const program = path.join(tools, 'node_modules', 'verdaccio', 'bin', 'verdaccio')
  const execPath = runtimes.install(runtimes.node(24)) // verdaccio needs a newer Node.js than we do
  const args = ['--config', file, '--listen', `127.0.0.1:${port}`]
  const child = fork(program, args, { execPath, cwd: folder, silent: true })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (log += text))
  const [first] = await Promise.race([once(child, 'message'), once(child, 'exit')]) // { verdaccio_started: true }
  if (!first?.verdaccio_started) throw new Error(`verdaccio did not start:\n${log}`)
  return { child, url: `http://127.0.0.1:${port}/`, log: () => log }
}

/** Creates a user, and the npm settings to publish as that user and to install. */
async function npmSettings(url, folder) {
  const body = JSON.stringify(USER)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}-/user/org.couchdb.user:${USER.name}`, { method: 'PUT', headers, body })
  const { token } = await response.json()
  const npmrc = path.join(folder, 'npmrc')
  fs.writeFileSync(npmrc, `registry=${url}\n${url.replace('http:', '')}:_authToken=${token}\n`)
  const [empty, cache] = [path.join(folder, 'empty-npmrc'), path.join(folder, 'cache')]
  fs.writeFileSync(empty, '')
  return {
    npm_config_userconfig: npmrc,
    npm_config_globalconfig: empty,
    npm_config_cache: cache,
    npm_config_update_notifier: 'false',
  }
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
}

/** The addon is optimized as a whole, which takes minutes where other programs run as well. */
const BUILD_MS = 30 * 60_000

/** Builds the addon of the release. Its folder is kept for the next time. */
function build(clone, report) {
  const built = run('npm', ['run', 'build'], clone, {
    timeout: BUILD_MS,
    env: { CARGO_TARGET_DIR: path.join(root, 'target', 'consumers') },
  })
  report('npm run build, of that release', built)
  return built.ok
}

/** The artifacts of ci.yml: a folder for each target, with its build. Returns what its jobs put out. */
function writeArtifacts(clone) {
  const { main: addon } = ownPlatform().manifest
  const platforms = TARGETS.filter(({ triple }) => napi.targets.includes(triple))
  for (const { name: platform, triple } of platforms)
    write(clone, triple, `flakeforge.${platform}.node`, fs.readFileSync(path.join(clone, addon)))
  // Only its name and its way into the package matter here: scripts/platforms builds and runs it.
  const { folder, manifest } = wasmPackages().find((each) => each.manifest.name === WASM)
  const there = path.join(clone, path.relative(root, folder))
  const built = manifest.files.filter((file) => !fs.existsSync(path.join(there, file)))
  for (const file of built) write(clone, 'wasm32-wasip1-threads', file, 'replaces the build')
  const artifacts = path.join(clone, 'artifacts')
  const outputs = fs
    .readdirSync(artifacts)
    .map((each) => ({ [each.replace('bindings-', '')]: JSON.stringify(digestsOf(path.join(artifacts, each))) }))
  return JSON.stringify(outputs)
}

function write(clone, triple, name, content) {
  const file = path.join(clone, 'artifacts', `bindings-${triple}`, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
}

const TYPESCRIPT = `
  import FlakeId, { type FlakeError } from 'flakeforge'
  const id: Buffer = new FlakeId().next()
  const code: FlakeError['code'] | undefined = undefined
  console.log(id.length, code)`

/** The commands after the install, and their outputs. */
const PROGRAMS = {
  'npx flakeforge 1': ['npx', ['--no', 'flakeforge', '1'], /\b\d{17,20}\b/],
  require: ['node', ['-p', `new (require('flakeforge'))().next().length`], /^8$/],
  import: [
    'node',
    ['--input-type=module', '-e', `import F from 'flakeforge'; console.log(new F().next().length)`],
    /^8$/,
  ],
  'TypeScript, as an ES module': ['node', ['typed.mjs'], /^8 undefined$/],
  'TypeScript, as CommonJS': ['node', ['typed.cjs'], /^8 undefined$/],
}

/** Compiles the two typed programs, as strictly as TypeScript can. */
function compile(folder) {
  for (const name of ['typed.mts', 'typed.cts']) fs.writeFileSync(path.join(folder, name), TYPESCRIPT)
  const types = ['--types', 'node', '--typeRoots', path.join(root, 'node_modules', '@types')]
  const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const flags = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--ignoreConfig']
  return run(process.execPath, [tsc, ...flags, ...types, 'typed.mts', 'typed.cts'], folder)
}

/** The packages in node_modules, those of a scope as `@scope/name`. */
function packagesIn(folder) {
  const modules = path.join(folder, 'node_modules')
  const names = fs.existsSync(modules) ? fs.readdirSync(modules).filter((name) => !name.startsWith('.')) : []
  const inScope = (name) => fs.readdirSync(path.join(modules, name)).map((each) => `${name}/${each}`)
  return names.flatMap((name) => (name.startsWith('@') ? inScope(name) : [name]))
}

/** The download size of a package, in kB. */
function sizeOf(tarballs, each) {
  const file = `${each.replace('@', '').replace('/', '-')}-${version}.tgz`
  return Math.ceil(fs.statSync(path.join(tarballs, file)).size / 1000)
}

/** Installs by name from the registry into an empty folder, on one version of Node.js, and uses the package. */
function install({ folder, settings, report, major }) {
  const empty = path.join(folder, `user-of-${major}`)
  fs.mkdirSync(empty)
  const bin = path.dirname(runtimes.install(runtimes.node(major)))
  const cache = path.join(folder, `cache-of-${major}`)
  const env = { ...settings, npm_config_cache: cache, PATH: `${bin}${path.delimiter}${process.env.PATH}` }
  const node = `Node.js ${run('node', ['--version'], empty, { env }).output}`
  const { ok, output } = run('npm', ['install', name], empty, { env })
  const packages = packagesIn(empty)
  const expected = [ownPlatform().manifest.name, name]
  const problems = packages.join() === expected.join() ? [] : [`installed: ${packages}, expected: ${expected}`]
  if (/npm warn/i.test(output)) problems.push('npm warns')
  report(`${node}: npm install flakeforge installs the package and its addon`, verdict(problems, output))
  if (!ok) return
  report(`${node}: strict TypeScript compiles`, compile(empty))
  for (const [what, [program, args, wanted]] of Object.entries(PROGRAMS)) {
    const result = run(program, args, empty, { env })
    report(`${node}: ${what}`, { ok: result.ok && wanted.test(result.output), output: result.output })
  }
}

/** On systems and CPUs without a binary, one of the packages that install the WebAssembly is installed. */
function installElsewhere(folder, settings, report) {
  for (const [platform, cpu, selector] of [
    ['freebsd', 'x64', '@flakeforge/binding-other-os'],
    ['linux', 'loong64', '@flakeforge/binding-other-cpu'],
  ]) {
    const empty = path.join(folder, `user-of-${platform}-${cpu}`)
    fs.mkdirSync(empty)
    const env = { ...settings, npm_config_cache: path.join(folder, 'cache-of-the-user') }
    const { output } = run('npm', ['install', `--os=${platform}`, `--cpu=${cpu}`, name], empty, { env })
    const packages = packagesIn(empty)
    const expected = [selector, WASM, name]
    const problems = packages.join() === expected.join() ? [] : [`installed: ${packages}, expected: ${expected}`]
    report(`npm install flakeforge on ${platform}-${cpu} installs the WebAssembly`, verdict(problems, output))
  }
}

/** Checks the registry's data about the packages. */
async function checkRegistry(url, report) {
  const packument = async (what) => (await fetch(`${url}${what}`)).json()
  const main = await packument(name)
  const manifest = main.versions?.[version] ?? {}
  const platforms = Object.keys(manifest.optionalDependencies ?? {})
  const problems = []
  const checkTags = (what, tags) => {
    // A first version is always `latest`, whatever its tag: so there must be no other tag.
    if (JSON.stringify(tags) !== JSON.stringify({ latest: version })) problems.push(`${what}: ${JSON.stringify(tags)}`)
  }
  checkTags(name, main['dist-tags'])
  const all = allPackages().map((each) => each.manifest.name)
  const wanted = all.filter((each) => each !== WASM) // it would be installed everywhere
  if (platforms.toSorted().join() !== wanted.sort().join()) problems.push(`optionalDependencies: ${platforms}`)
  for (const platform of all) {
    const { 'dist-tags': tags, versions } = await packument(platform)
    checkTags(platform, tags)
    if (versions?.[version] === undefined) problems.push(`${platform} has no ${version}`)
    if (platform !== WASM && manifest.optionalDependencies[platform] !== version)
      problems.push(`${platform} is not pinned`)
  }
  for (const other of ['flakeforge-server', 'flakeforge-check-store']) {
    const published = await packument(other)
    checkTags(other, published['dist-tags'])
    const needed = published.versions?.[version]?.dependencies?.[name]
    if (needed !== version) problems.push(`${other} needs ${name} ${needed}`)
  }
  report(
    `the registry has ${name} ${version}, its server, its checks of stores and ${all.length} packages that belong to it`,
    verdict(problems),
  )
}

/**
 * The packages that Node.js finds from a package's folder on, by name and version; not those that flakeforge itself
 * needs.
 */
function installedFor(folder, found = new Set()) {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
  if (manifest.name === name) return found
  const key = `${manifest.name}@${manifest.version}`
  if (found.has(key)) return found
  found.add(key)
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest
  const peers = Object.keys(peerDependencies ?? {}).filter((each) => !peerDependenciesMeta?.[each]?.optional)
  for (const needed of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
    const place = createRequire(path.join(folder, 'package.json'))
      .resolve.paths(needed)
      .map((each) => path.join(each, needed))
      .find((each) => fs.existsSync(path.join(each, 'package.json')))
    if (place === undefined) throw new Error(`${key} needs ${needed}, which is not installed`)
    installedFor(fs.realpathSync(place), found)
  }
  return found
}

/** The faults of an SBOM as such: its shape, its subject, and references to nothing. */
async function faultsOfSbom(tools, text, subject) {
  const { Spec, Validation } = require(path.join(tools, 'node_modules', '@cyclonedx', 'cyclonedx-library'))
  const problem = await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(text)
  const { metadata, components, dependencies } = JSON.parse(text)
  const problems = problem === null ? [] : [JSON.stringify(problem)]
  if (metadata.component.purl !== `pkg:npm/${subject}@${version}`) problems.push(metadata.component.purl)
  const known = [metadata.component, ...components].map((each) => each['bom-ref'])
  const named = dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
  problems.push(...named.filter((ref) => !known.includes(ref)).map((ref) => `${ref} is used, and not listed`))
  return problems
}

async function checkServersSbom(tools, clone, report) {
  const { ok, stdout, output } = run('node', ['scripts/sbom.js', 'server'], clone)
  if (!ok) return report('the SBOM of the server', { ok, output })
  const problems = await faultsOfSbom(tools, stdout, 'flakeforge-server')
  const { components } = JSON.parse(stdout)
  const listed = components
    .filter(({ purl }) => purl.startsWith('pkg:npm/'))
    .map((each) => `${each.name}@${each.version}`)
  const { manifest, folder } = serverPackage()
  const needed = installedFor(folder)
  needed.delete(`${manifest.name}@${manifest.version}`)
  const wanted = [...needed, `${name}@${version}`]
  problems.push(...wanted.filter((each) => !listed.includes(each)).map((each) => `${each} is missing`))
  problems.push(...listed.filter((each) => !wanted.includes(each)).map((each) => `${each} is not installed with it`))
  for (const crate of ['flakeforge-core', 'napi'])
    if (!components.some(({ purl }) => purl.startsWith(`pkg:cargo/${crate}@`))) problems.push(`${crate} is missing`)
  report(`the SBOM of the server lists the ${wanted.length} packages that it is installed with`, verdict(problems))
}

async function checkSbom(tools, clone, report) {
  const { ok, stdout, output } = run('node', ['scripts/sbom.js'], clone)
  if (!ok) return report('the SBOM', { ok, output })
  const problems = await faultsOfSbom(tools, stdout, name)
  const { components } = JSON.parse(stdout)
  for (const crate of ['flakeforge-core', 'napi', 'libc', 'windows-link'])
    if (!components.some((component) => component.name === crate)) problems.push(`${crate} is missing`)
  for (const crate of ['syn', 'proptest', 'loom', 'napi-build'])
    if (components.some((component) => component.name === crate)) problems.push(`${crate} is not in the addon`)
  report('the SBOM is CycloneDX and lists what is in the addon', verdict(problems))
}

/** Prepares a release in a copy of this repository, and packs it as ci.yml does: the folder with the tarballs. */
async function prepare(tools, folder, report) {
  const clone = cloneTo(path.join(folder, 'clone'))
  const prepared = run('npm', ['run', 'release', '--', version], clone, { env: IDENTITY })
  report(`npm run release -- ${version}`, prepared)
  if (!prepared.ok || !build(clone, report)) return
  const outputs = writeArtifacts(clone)
  const packed = run('node', ['scripts/pack-release.js', 'artifacts', 'tarballs', outputs], clone)
  report('scripts/pack-release.js packs what was built', packed)
  if (!packed.ok) return
  await checkSbom(tools, clone, report)
  await checkServersSbom(tools, clone, report)
  return path.join(clone, 'tarballs')
}

/** A package of the same name and version with another content, as from a second run of the whole workflow, is not skipped. */
function refuseAnother({ tarballs, digests, publishAll, folder, report }) {
  const others = path.join(folder, 'others')
  fs.cpSync(tarballs, others, { recursive: true })
  fs.appendFileSync(path.join(others, `${name}-${version}.tgz`), '\0')
  const refusals = [
    [publishAll(others, digests), 'was replaced: its digest is '],
    [publishAll(others, digestsOf(others)), `${name} ${version} is published with the digest `],
  ]
  for (const [{ ok, output }, message] of refusals)
    report(`scripts/publish.js refuses another ${name}: ${message}`, { ok: !ok && output.includes(message), output })
}

/**
 * scripts/check-published.js, as release.yml runs it, but this registry signs nothing, and has none of the packages that the server
 * needs.
 */
function checkPublished({ digests, folder, env, report }) {
  const check = (of) => {
    const options = ['--unsigned', name, 'flakeforge-check-store']
    const script = path.join(root, 'scripts', 'check-published.js')
    return run('node', [script, `v${version}`, JSON.stringify(of), ...options], folder, { env })
  }
  report('scripts/check-published.js finds what was packed', check(digests))
  const file = `${name}-${version}.tgz`
  const { [file]: _, ...others } = digests
  const { ok, output } = check(others)
  const message = `${name} ${version} has the digest ${digests[file]}: this run packed no such file`
  report('scripts/check-published.js refuses what was not packed', { ok: !ok && output.includes(message), output })
}

/** Publishes tarballs as release.yml does, and installs them. */
async function publish({ tarballs, tools, folder, report }) {
  const registry = await startRegistry(tools, folder)
  try {
    const env = await npmSettings(registry.url, folder)
    // As after a run that failed halfway, some packages are already published.
    const early = ['other-cpu', 'darwin-arm64'].map((each) => {
      const tarball = path.join(tarballs, `flakeforge-binding-${each}-${version}.tgz`)
      return run('npm', ['publish', '--access', 'public', tarball], folder, { env })
    })
    const digests = digestsOf(tarballs)
    const publishAll = (folder, of) =>
      run('node', ['scripts/publish.js', `v${version}`, folder, JSON.stringify(of)], root, { env })
    const published = publishAll(tarballs, digests)
    const ok = [...early, published].every((each) => each.ok)
    report('scripts/publish.js publishes, also after a run that failed halfway', {
      ok,
      output: [...early, published, { output: registry.log() }].map((each) => each.output).join('\n'),
    })
    if (!ok) return
    refuseAnother({ tarballs, digests, publishAll, folder, report })
    await checkRegistry(registry.url, report)
    checkPublished({ digests, folder, env, report })
    for (const major of NODES) install({ folder, settings: env, report, major })
    installElsewhere(folder, env, report)
    const size = [name, ownPlatform().manifest.name].map((each) => sizeOf(tarballs, each))
    console.log(`       npm install ${name} downloads ${size.join(' + ')} kB`)
  } finally {
    registry.child.kill()
    await once(registry.child, 'exit')
  }
}

module.exports = async (report) => {
  const tools = project(__dirname)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-registry-'))
  try {
    const tarballs = PACKED ? path.resolve(PACKED) : await prepare(tools, folder, report)
    if (tarballs !== undefined) await publish({ tarballs, tools, folder, report })
  } finally {
    fs.rmSync(folder, { recursive: true, maxRetries: 5 })
  }
}
