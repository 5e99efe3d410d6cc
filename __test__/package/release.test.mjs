// `npm run release -- X.Y.Z` in a copy of the repository: afterwards the version is the same everywhere, and a rejected
// or failed release leaves nothing behind. lab/consumers/release publishes its result.

import { execFile, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import anyTest from 'ava'
import { parse } from 'yaml'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const semver = require('semver')
const { cloneTo, git } = require('../../lab/consumers/clone.js')
const { releasedChangelog } = require('../../scripts/changelog.js')

const root = path.join(import.meta.dirname, '..', '..')
const { version: now, homepage, napi } = require('../../package.json')
const next = semver.inc(now, 'minor')
const today = new Date().toISOString().slice(0, 10) // before any release here

// Releases are prepared on a Unix-like system, in a clone, with Rust.
const succeeds = (program, ...args) => spawnSync(program, args, { cwd: root }).status === 0
const canRelease =
  process.platform !== 'win32' && succeeds('git', 'rev-parse', 'HEAD') && succeeds('cargo', '--version')
const test = canRelease ? anyTest : anyTest.skip

let temp

anyTest.before(() => {
  temp = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-release-'))
})

anyTest.after.always(() => fs.rmSync(temp, { recursive: true }))

/** A copy of the repository, as a maintainer has it. */
function clone() {
  const folder = cloneTo(fs.mkdtempSync(path.join(temp, 'clone-')))
  const read = (file) => fs.readFileSync(path.join(folder, file), 'utf8')
  return {
    folder,
    read,
    write: (file, text) => fs.writeFileSync(path.join(folder, file), text),
    json: (file) => JSON.parse(read(file)),
    git: (...args) => git(folder, ...args),
  }
}

const NAMES = { NAME: 'Test', EMAIL: 'test@example.com' }
const identity = Object.entries(NAMES).flatMap(([what, value]) =>
  ['AUTHOR', 'COMMITTER'].map((who) => [`GIT_${who}_${what}`, value]),
)

/** The copy that tests of refused and failed releases share: making one takes seconds. */
let shared

/** The shared copy as it was made, whatever the test before did to it. No test waits for anything, so they take turns. */
function sharedClone() {
  if (shared === undefined) {
    shared = clone()
    shared.git('branch', 'as-made')
  }
  shared.git('reset', '--quiet', '--hard', 'as-made')
  shared.git('clean', '--quiet', '--force', '-d')
  for (const tag of shared.git('tag').split('\n').filter(Boolean)) shared.git('tag', '--delete', tag)
  return shared
}

/** Runs the command as a maintainer does. */
function release(folder, ...args) {
  const env = { ...process.env, ...Object.fromEntries(identity) }
  return spawnSync('npm', ['run', '--silent', 'release', '--', ...args], { cwd: folder, env, encoding: 'utf8' })
}

/** A copy in which the release was prepared. The first caller waits for it; no test may change it. */
let prepared
function released() {
  if (prepared === undefined) {
    const copy = clone()
    prepared = { ...copy, ...release(copy.folder, next) }
  }
  return prepared
}

test('the version is the same everywhere, in a commit with its tag', (t) => {
  const { folder, read, json, git, status, stdout, stderr } = released()
  t.is(status, 0, stderr)

  t.is(json('package.json').version, next)
  const lock = json('package-lock.json')
  t.deepEqual([lock.version, lock.packages[''].version], [next, next])
  for (const name of ['packages/server', 'packages/check-store'])
    for (const { version, dependencies } of [json(`${name}/package.json`), lock.packages[name]])
      t.deepEqual([version, dependencies.flakeforge], [next, next])
  const platforms = fs.readdirSync(path.join(folder, 'npm'))
  t.true(platforms.length > napi.targets.length, 'those with a binary, and those of the WebAssembly')
  for (const name of platforms) {
    const { version, dependencies = {} } = json(`npm/${name}/package.json`)
    t.is(version, next, name)
    if (name.startsWith('other-')) t.is(dependencies['@flakeforge/binding-wasm32-wasi'], next, name)
  }
  t.true(read('Cargo.toml').includes(`\nversion = "${next}"\n`))
  for (const manifest of ['Cargo.toml', 'core/fuzz/Cargo.toml']) {
    const args = ['metadata', '--locked', '--no-deps', '--format-version', '1', '--manifest-path', manifest]
    const metadata = spawnSync('cargo', args, { cwd: folder, encoding: 'utf8' })
    t.is(metadata.status, 0, metadata.stderr)
    const tree = ['tree', '--locked', '--prefix', 'none', '--edges', 'normal', '--manifest-path', manifest]
    const { stdout: crates, stderr: why } = spawnSync('cargo', tree, { cwd: folder, encoding: 'utf8' })
    t.true(crates.includes(`flakeforge-core v${next} `), why)
  }

  t.is(git('status', '--porcelain'), '')
  t.is(git('log', '-1', '--format=%s'), `Release ${next}`)
  t.is(git('rev-parse', `v${next}^{commit}`), git('rev-parse', 'HEAD'))
  t.is(git('rev-list', '--count', 'HEAD'), '2')
  t.true(stdout.includes(`git push --atomic origin HEAD v${next}`), stdout)
})

test('the changelog: a heading with the date, nothing under [Unreleased], and links', (t) => {
  const { read, status } = released()
  t.is(status, 0)
  const [, date] = read('CHANGELOG.md').match(
    /^## \[Unreleased\]\n\n## \[.*\] - (\d{4}-\d\d-\d\d)\n\n### Added\n\n- An entry of the test\.\n/m,
  )
  t.true([today, new Date().toISOString().slice(0, 10)].includes(date))
  const repository = homepage.replace(/#.*/, '')
  const first = `[${next}]: ${repository}/releases/tag/v${next}\n`
  t.true(read('CHANGELOG.md').endsWith(`\n[Unreleased]: ${repository}/compare/v${next}...HEAD\n${first}`))
  const more = read('CHANGELOG.md').replace('## [Unreleased]\n', '## [Unreleased]\n\n- One more.\n')
  const after = releasedChangelog(more, { version: '99.0.0', date: today, repository })
  t.true(after.endsWith(`\n[99.0.0]: ${repository}/compare/v${next}...v99.0.0\n${first}`))
})

test('the written files are what the repository holds: npm/ is up to date with package.json', (t) => {
  const { folder, git } = sharedClone()
  const { status, stderr } = spawnSync(process.execPath, ['scripts/npm-dirs.js'], { cwd: folder, encoding: 'utf8' })
  t.is(status, 0, stderr)
  t.is(git('status', '--porcelain'), '')
})

/** Asserts that the copy is unchanged. */
function isUntouched(t, { git }, changes = '') {
  t.is(git('status', '--porcelain'), changes)
  t.is(git('rev-list', '--count', 'HEAD'), '1')
  t.is(git('tag', '--list', `v${next}`, `v${now}`), '')
}

const WRONG = {
  'no version': [[], /^usage: npm run release -- X\.Y\.Z\n$/],
  'not a version': [['1.2'], /^'1\.2' is not a version: it must look like 1\.2\.3 or 1\.2\.3-rc\.1\n$/],
  'a tag for a version': [[`v${next}`], /^'v.*' is not a version/],
  'the present version': [[now], /must be greater than the present version/],
  'an older version': [['0.0.0-rc.1'], /^0\.0\.0-rc\.1 must be greater than the present version, [\d.]+\n$/],
}

for (const [what, [args, message]] of Object.entries(WRONG)) {
  test(`rejected: ${what}`, (t) => {
    const copy = sharedClone()
    const { status, stderr } = release(copy.folder, ...args)
    t.is(status, 1)
    t.regex(stderr.replace(/^npm .*\n/gm, ''), message)
    isUntouched(t, copy)
  })
}

test('rejected: uncommitted changes', (t) => {
  const copy = sharedClone()
  copy.write('README.md', 'changed')
  const { status, stderr } = release(copy.folder, next)
  t.is(status, 1)
  t.regex(stderr, /Commit or remove these changes first:\n ?M README\.md/)
  isUntouched(t, copy, 'M README.md')
})

test('rejected: an existing tag', (t) => {
  const copy = sharedClone()
  copy.git('tag', `v${next}`)
  const { status, stderr } = release(copy.folder, next)
  t.is(status, 1)
  t.true(stderr.includes(`There is a tag v${next} already`))
  t.is(copy.git('rev-list', '--count', 'HEAD'), '1')
})

test('rejected: nothing under [Unreleased]', (t) => {
  const copy = sharedClone()
  const changelog = releasedChangelog(copy.read('CHANGELOG.md'), { version: now, date: '2000-01-01', repository: '' })
  copy.write('CHANGELOG.md', changelog)
  copy.git('commit', '--all', '--quiet', '--message', 'Released', '--amend')
  const { status, stderr } = release(copy.folder, next)
  t.is(status, 1)
  t.true(stderr.includes('CHANGELOG.md has nothing under [Unreleased]: write what has changed'))
  isUntouched(t, copy)
})

test('a failing step reverts what was written', (t) => {
  const copy = sharedClone()
  copy.write(
    'core/fuzz/Cargo.lock',
    copy.read('core/fuzz/Cargo.lock').replace(`version = "${now}"`, 'version = "9.9.9"'),
  )
  copy.git('commit', '--all', '--quiet', '--message', 'Broken', '--amend')
  const { status, stderr } = release(copy.folder, next)
  t.is(status, 1)
  t.regex(stderr, /core\/fuzz\/Cargo\.lock has this text 0 times instead of once: .*flakeforge-core/s)
  isUntouched(t, copy)
})

test('a tag that cannot be created reverts the commit', (t) => {
  const copy = sharedClone()
  copy.git('tag', `v${next}/taken`) // git keeps tags as files: this one needs a folder of that name
  const { status } = release(copy.folder, next)
  t.is(status, 1)
  isUntouched(t, copy)
})

/** A folder with tarballs that have only a package.json each. */
function tarballs(...manifests) {
  const work = fs.mkdtempSync(path.join(temp, 'package-'))
  const folder = fs.mkdtempSync(path.join(temp, 'tarballs-'))
  fs.mkdirSync(path.join(work, 'package'))
  for (const [index, manifest] of manifests.entries()) {
    fs.writeFileSync(path.join(work, 'package', 'package.json'), JSON.stringify(manifest))
    spawnSync('tar', ['-czf', path.join(folder, `${index}.tgz`), 'package'], { cwd: work })
  }
  return folder
}

const script = (name, ...args) =>
  spawnSync(process.execPath, [path.join(root, 'scripts', name), ...args], { encoding: 'utf8' })

/** What a job puts into its outputs. */
const digestsOf = (...args) => script('digests.js', ...args).stdout.trim()

const [PART, SELECTOR] = ['@flakeforge/binding-a', '@flakeforge/binding-other']
const main = { name: 'flakeforge', version: '1.2.3', optionalDependencies: { [PART]: '1.2.3' } }
const part = { name: PART, version: '1.2.3' }
const INCOMPLETE = {
  'another version than the tag': [
    [main, { ...part, version: '1.2.2' }],
    `The tag is v1.2.3, and ${PART} has version 1.2.2`,
  ],
  'a missing part': [[main], `flakeforge needs ${PART}, and there is no tarball of it`],
  'a missing part of a part': [
    [main, part, { name: SELECTOR, version: '1.2.3', dependencies: { '@flakeforge/binding-b': '1.2.3' } }],
    `${SELECTOR} needs @flakeforge/binding-b, and there is no tarball of it`,
  ],
  'the parts alone': [[part], 'There is no tarball of flakeforge'],
}

for (const [what, [manifests, message]] of Object.entries(INCOMPLETE)) {
  test(`nothing is published: ${what}`, (t) => {
    const folder = tarballs(...manifests)
    const { status, stderr } = script('publish.js', 'v1.2.3', folder, digestsOf(folder))
    t.is(status, 1)
    t.true(stderr.includes(message), stderr)
  })
}

test('a digest is the one that npm computes', (t) => {
  const folder = fs.mkdtempSync(path.join(temp, 'npm-'))
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(part))
  const { stdout } = spawnSync('npm', ['pack', '--json'], { cwd: folder, encoding: 'utf8' })
  const [{ filename, integrity }] = JSON.parse(stdout)
  t.deepEqual(JSON.parse(digestsOf(folder, filename)), { [filename]: integrity })
})

/** What another job of the run can do to packed tarballs. Each returns what the message must say. */
const REPLACED = {
  'a tarball was changed'(folder) {
    fs.copyFileSync(
      path.join(tarballs({ ...main, scripts: { postinstall: 'node evil.js' } }), '0.tgz'),
      path.join(folder, '0.tgz'),
    )
    return /\n0\.tgz was replaced: its digest is sha512-\S+, and it was sha512-\S+ when it was made\n/
  },
  'a tarball was removed'(folder) {
    fs.rmSync(path.join(folder, '1.tgz'))
    return /\n1\.tgz is missing\n/
  },
  'a tarball was added'(folder) {
    fs.copyFileSync(path.join(folder, '1.tgz'), path.join(folder, '2.tgz'))
    return /\n2\.tgz has no digest, so the job that made the others did not make it\n/
  },
  'a file was added in a folder'(folder) {
    fs.mkdirSync(path.join(folder, 'more'))
    fs.writeFileSync(path.join(folder, 'more', '.npmrc'), 'registry=https://registry.example.com/')
    return /\nmore\/\.npmrc has no digest/
  },
  'two tarballs were exchanged'(folder) {
    fs.renameSync(path.join(folder, '0.tgz'), path.join(folder, 'x'))
    fs.renameSync(path.join(folder, '1.tgz'), path.join(folder, '0.tgz'))
    fs.renameSync(path.join(folder, 'x'), path.join(folder, '1.tgz'))
    return /\n0\.tgz was replaced.*\n1\.tgz was replaced/
  },
  'a tarball became a link'(folder) {
    fs.renameSync(path.join(folder, '0.tgz'), `${folder}.tgz`)
    fs.symlinkSync(`${folder}.tgz`, path.join(folder, '0.tgz'))
    return /0\.tgz is neither a file nor a folder/
  },
}

for (const [what, change] of Object.entries(REPLACED)) {
  test(`nothing is published: ${what}`, (t) => {
    const folder = tarballs(main, part)
    const digests = digestsOf(folder)
    t.is(script('digests.js', '--check', folder, digests).status, 0)
    const message = change(folder)
    for (const refused of [
      script('publish.js', 'v1.2.3', folder, digests),
      script('digests.js', '--check', folder, digests),
    ]) {
      t.is(refused.status, 1)
      t.regex(refused.stderr, message)
    }
  })
}

const NO_DIGESTS = {
  '': /There are no digests: the job that made the files must put them out/,
  '{}': /There are no digests: the job that made them found no file/,
  '{"0.tgz":"sha512-"}': /The digest of 0\.tgz is sha512-: it must be sha512- and 64 bytes in Base64/,
  '{"0.tgz":null}': /The digest of 0\.tgz is null: it must be/,
}

for (const [digests, message] of Object.entries(NO_DIGESTS)) {
  test(`nothing is published with the digests '${digests}'`, (t) => {
    const { status, stderr } = script('publish.js', 'v1.2.3', tarballs(main, part), digests)
    t.is(status, 1)
    t.regex(stderr, message)
  })
}

test('publish.js needs digests', (t) => {
  const { status, stderr } = script('publish.js', 'v1.2.3', tarballs(main, part))
  t.is(status, 1)
  t.regex(stderr, /usage: node scripts\/publish\.js TAG FOLDER DIGESTS/)
})

test('the image is built from the tarballs that are published, and from no other', (t) => {
  const names = [
    'flakeforge',
    `@flakeforge/binding-linux-${process.arch}-gnu`,
    'flakeforge-server',
    'flakeforge-check-store',
  ]
  const folder = tarballs(...names.map((name) => ({ name, version: '1.2.3' })))
  const [digests, context] = [digestsOf(folder), path.join(folder, '..', `${path.basename(folder)}-context`)]
  t.is(script('pack-image.js', folder, context, digests).status, 0)
  t.deepEqual(fs.readdirSync(context).sort(), ['0.tgz', '1.tgz', '2.tgz', 'package-lock.json', 'package.json'])
  const { dependencies } = JSON.parse(fs.readFileSync(path.join(context, 'package.json'), 'utf8'))
  t.deepEqual(Object.keys(dependencies), names.slice(0, 3))
  fs.copyFileSync(path.join(folder, '0.tgz'), path.join(folder, '1.tgz'))
  const { status, stderr } = script('pack-image.js', folder, context, digests)
  t.is(status, 1)
  t.regex(stderr, /1\.tgz was replaced/)
})

/** A registry that answers each request for a package in this way, and stages all. Returns what was asked of it. */
async function startRegistry(t, status, packument) {
  const asked = []
  const registry = createServer(async (request, response) => {
    const { method, url, headers } = request
    await request.resume().toArray()
    asked.push(`${method} ${decodeURIComponent(url)}${headers.authorization ? `, ${headers.authorization}` : ''}`)
    if (method !== 'GET') return response.writeHead(201).end('{"stageId":"1"}')
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(packument))
  })
  await once(registry.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => registry.close())
  return { url: `http://127.0.0.1:${registry.address().port}/`, asked }
}

/** Runs publish.js with a registry. */
async function publishTo({ url }, env) {
  const folder = tarballs(main, part)
  const npmrc = path.join(folder, '..', `${path.basename(folder)}.npmrc`)
  fs.writeFileSync(npmrc, `registry=${url}\nfetch-retries=0\n`)
  const args = [path.join(root, 'scripts', 'publish.js'), 'v1.2.3', folder, digestsOf(folder)]
  const running = promisify(execFile)(process.execPath, args, {
    env: { ...process.env, npm_config_userconfig: npmrc, ...env },
  })
  return running.catch((error) => error)
}

const NONE = { error: 'not found' }
const STAGED = {
  name: PART,
  versions: { '0.0.0-stage': { name: PART, version: '0.0.0-stage' } },
  'dist-tags': { latest: '0.0.0-stage' },
}

for (const [what, [status, packument]] of Object.entries({ none: [404, NONE], 'a placeholder': [200, STAGED] })) {
  test(`a first version is staged by a token, and without one nothing is published: npm has ${what}`, async (t) => {
    const registry = await startRegistry(t, status, packument)
    const { code, stderr } = await publishTo(registry, { FIRST_TOKEN: '' })
    t.is(code, 1)
    t.regex(stderr, /npm has no package of these names: @flakeforge\/binding-a, flakeforge\. .*NPM_FIRST_TOKEN/)
    t.true(registry.asked.length > 0)
    t.deepEqual(
      registry.asked.filter((each) => !each.startsWith('GET ')),
      [],
    )
  })
}

/** npm stages from 11.15 on, which comes with Node 24. */
const [npmVersion] = spawnSync('npm', ['--version'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
}).stdout.split('\n')
const withStaging = semver.gte(npmVersion, '11.15.0') ? test : test.skip

withStaging('all first versions are staged with the token, none is published, and the job does not pass', async (t) => {
  const registry = await startRegistry(t, 404, NONE)
  const { code, stderr } = await publishTo(registry, { FIRST_TOKEN: 'token' })
  t.is(code, 1)
  const message =
    /Staged, and not published: @flakeforge\/binding-a, flakeforge\. .*npm stage approve.*revoke the token/s
  t.regex(stderr, message)
  t.notRegex(stderr, /Bearer|_authToken/)
  t.deepEqual(
    registry.asked.filter((each) => !each.startsWith('GET ')),
    ['@flakeforge/binding-a', 'flakeforge'].map((name) => `POST /-/stage/package/${name}, Bearer token`),
  )
})

withStaging('npm makes of the command in scripts/README.md what publishing from release.yml needs', (t) => {
  const readme = fs.readFileSync(path.join(root, 'scripts', 'README.md'), 'utf8')
  const [, words] = /^ +npm (trust github NAME .*)$/m.exec(readme)
  const args = ['--dry-run', '--json', '--registry', 'http://127.0.0.1:1/']
  const { status, stdout } = spawnSync('npm', [...words.split(' '), ...args], { cwd: temp, encoding: 'utf8' })
  t.is(status, 0)
  const { jobs } = parse(fs.readFileSync(path.join(root, '.github', 'workflows', 'release.yml'), 'utf8'))
  t.deepEqual(JSON.parse(stdout), {
    package: 'NAME',
    file: 'release.yml',
    repository: new URL(homepage).pathname.slice(1).replace(/#.*/, ''),
    environment: jobs.publish.environment,
    permissions: ['createPackage'],
  })
})

test('a registry that fails is not taken for one without the package', async (t) => {
  const registry = await startRegistry(t, 500, { error: 'failed' })
  const { code, stderr } = await publishTo(registry, { FIRST_TOKEN: 'token' })
  t.is(code, 1)
  t.regex(stderr, /npm cannot tell whether @flakeforge\/binding-a exists/)
})

/** What ci.yml hands to pack-release.js, with one build: a folder, and the outputs of the jobs. */
function builds(triple, file, content) {
  const artifacts = fs.mkdtempSync(path.join(temp, 'artifacts-'))
  const built = path.join(artifacts, `bindings-${triple}`)
  fs.mkdirSync(built)
  fs.writeFileSync(path.join(built, file), content)
  return { artifacts, built, outputs: JSON.stringify([{ [triple]: digestsOf(built) }, {}]) }
}

const TRIPLE = 'aarch64-apple-darwin'
const ADDON = 'flakeforge.darwin-arm64.node'

/** Asserts that nothing is packed, and why. */
function isNotPacked(t, artifacts, outputs, message) {
  const target = fs.mkdtempSync(path.join(temp, 'packed-'))
  const { status, stderr } = script('pack-release.js', artifacts, target, outputs)
  t.is(status, 1)
  t.regex(stderr, message)
  t.false(fs.readdirSync(target).some((name) => name.endsWith('.tgz')))
}

test('nothing is packed: a binary is missing, names folders of its builder, or belongs to no package', (t) => {
  const none = fs.mkdtempSync(path.join(temp, 'artifacts-'))
  isNotPacked(
    t,
    none,
    '[]',
    /@flakeforge\/binding-darwin-arm64 has no flakeforge\.darwin-arm64\.node, and .*bindings-aarch64-apple-darwin brought none/,
  )
  const { artifacts, outputs } = builds(TRIPLE, ADDON, '\0/Users/builder/flakeforge/src/hot.rs\0')
  isNotPacked(
    t,
    artifacts,
    outputs,
    /flakeforge\.darwin-arm64\.node names \/Users\/builder\/flakeforge\/src\/hot\.rs, on the machine/,
  )
  const unused = builds('of-nothing', ADDON, '')
  isNotPacked(t, unused.artifacts, unused.outputs, /No package has what is in .*bindings-of-nothing/)
})

test('nothing is packed: a build was replaced, was added, is missing, or has no digests', (t) => {
  const { artifacts, built, outputs } = builds(TRIPLE, ADDON, 'as it was built')
  fs.writeFileSync(path.join(built, ADDON), 'as another job made it')
  isNotPacked(t, artifacts, outputs, /\nflakeforge\.darwin-arm64\.node was replaced/)
  fs.writeFileSync(path.join(built, ADDON), 'as it was built')
  fs.writeFileSync(path.join(built, 'native.d.ts'), '')
  isNotPacked(t, artifacts, outputs, /\nnative\.d\.ts has no digest/)
  fs.rmSync(built, { recursive: true })
  isNotPacked(t, artifacts, outputs, /bindings-aarch64-apple-darwin: there is no such folder/)
  const added = builds(TRIPLE, ADDON, 'x')
  isNotPacked(t, added.artifacts, '[{},{}]', /No job put out digests of .*bindings-aarch64-apple-darwin/)
  isNotPacked(t, added.artifacts, `[{"${TRIPLE}":""},{}]`, /There are no digests: the job that made the files/)
})
