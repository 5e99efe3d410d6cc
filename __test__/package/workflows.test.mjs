// What a release is made of: nothing comes from a cache, from a name that can be moved to something else, or from a job
// that is not known to have made it; and nothing is published unless all tests pass and a person agrees. The workflows
// are read as data. scripts/lint-workflows.sh looks for other mistakes in them.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test from 'ava'
import { parse } from 'yaml'

const require = createRequire(import.meta.url)
const root = path.join(import.meta.dirname, '..', '..')
const read = (...names) => fs.readFileSync(path.join(root, ...names), 'utf8').replaceAll('\r\n', '\n')
const folder = path.join('.github', 'workflows')
const workflows = fs.readdirSync(path.join(root, folder)).map((file) => ({ file, ...parse(read(folder, file)) }))
const jobsOf = (name) => workflows.find(({ file }) => file === name).jobs
const ci = jobsOf('ci.yml')
const release = jobsOf('release.yml')
const jobs = workflows.flatMap(({ file, jobs }) =>
  Object.entries(jobs).map(([name, job]) => ({ steps: [], ...job, name: `${file}: ${name}` })),
)

const isAction = (step, name) => step.uses?.startsWith(`actions/${name}@`) ?? false
const actions = ({ steps = [] }, name) => steps.filter((step) => isAction(step, name)).map((step) => step.with)
const expression = (text) => `\${{ ${text} }}`
const commands = ({ steps }) => steps.map(({ run = '' }) => run).join('\n')

/** Whether a job that wants artifacts of this name gets one with that name, which may contain a `${{ … }}`. */
const matches = (wanted, name) => {
  const [start] = wanted.split('*')
  const [fixed] = name.split('${{')
  if (wanted.endsWith('*')) return fixed.startsWith(start)
  return wanted === name || (name !== fixed && wanted.startsWith(fixed))
}

/** The jobs of a release that made what a job takes, and what those took. */
function makersOf(job) {
  const wanted = actions(job, 'download-artifact').map(({ name, pattern }) => name ?? pattern)
  const makes = (each) =>
    actions(each, 'upload-artifact').some(({ name }) => wanted.some((want) => matches(want, name)))
  const makers = Object.entries({ ...ci, ...release }).filter(([, each]) => makes(each))
  return makers.flatMap(([name, maker]) => [name, ...makersOf(maker)])
}

/** The jobs that make what leaves the repository in a release, or send it out. */
const PUBLISHING = ['publish', 'publish-image', 'github-release']
const names = [...new Set(PUBLISHING.flatMap((name) => [name, ...makersOf(release[name])]))]
const makers = names.map((name) => ({ ...{ ...ci, ...release }[name], name }))

test('the jobs that make a release', (t) => {
  t.deepEqual(names.toSorted(), [
    'build',
    'build-wasm',
    'github-release',
    'image',
    'pack',
    'publish',
    'publish-image',
    'sbom',
  ])
})

for (const job of makers) {
  test(`${job.name} restores no cache, and runs no container`, (t) => {
    t.deepEqual(actions(job, 'cache'), [])
    for (const settings of actions(job, 'setup-node')) {
      t.is(settings['package-manager-cache'], false)
      t.is(settings.cache, undefined)
    }
    t.deepEqual([job.container, job.services], [undefined, undefined])
    t.notRegex(commands(job), /\bcache\b/)
    // One job makes an image, from a base image that is named by its digest, and one sends it out.
    const docker = { image: ['build', 'save'], 'publish-image': ['login', 'load', 'tag', 'push', 'buildx', 'buildx'] }
    t.deepEqual(
      Array.from(commands(job).matchAll(/\bdocker (\w+)/g), ([, command]) => command),
      docker[job.name] ?? [],
    )
  })

  test(`${job.name} takes only files that their makers put out digests of`, (t) => {
    for (const [i, step] of job.steps.entries()) {
      if (!isAction(step, 'download-artifact')) continue
      const { run, env } = job.steps[i + 1]
      t.regex(run, /^node scripts\/(?:pack-release|pack-image|publish|digests)\.js .*"\$DIGESTS"/)
      t.regex(
        env.DIGESTS,
        /^\$\{\{ (?:toJSON\(needs\.\*\.outputs\)|needs\.\w+\.outputs\.(?:digests|amd64|arm64)) \}\}$/,
      )
    }
    // And only after they are computed, the files go where other jobs can replace them.
    const i = job.steps.findIndex((step) => isAction(step, 'upload-artifact'))
    if (i === -1) return
    const { id, run } = job.steps[i - 1]
    t.regex(run, /digests=\$\(node scripts\/digests\.js /)
    for (const output of Object.values(job.outputs)) t.true(output.startsWith(`\${{ steps.${id}.outputs.`), output)
  })
}

test('a release is built where no test runs', (t) => {
  for (const job of makers) t.notRegex(commands(job), /\bava\b|__test__|npm test|platforms -- (?!build )/, job.name)
})

test('each digest comes from the job that made the file', (t) => {
  const { on } = workflows.find(({ file }) => file === 'ci.yml')
  t.is(on.workflow_call.outputs.digests.value, expression('jobs.pack.outputs.digests'))
  const digestsFor = (job) => job.steps.find(({ env }) => env?.DIGESTS !== undefined).env.DIGESTS
  t.is(digestsFor(release.publish), expression('needs.ci.outputs.digests'))
  t.is(digestsFor(release['github-release']), expression('needs.sbom.outputs.digests'))
  t.is(digestsFor(release.image), expression('needs.ci.outputs.digests'))
  t.is(digestsFor(release.installed), expression('needs.ci.outputs.digests'))
  const digests = release['publish-image'].steps.flatMap(({ env }) => env?.DIGESTS ?? [])
  t.deepEqual(
    digests,
    ['image.outputs.amd64', 'image.outputs.arm64', 'sbom.outputs.digests'].map((of) => expression(`needs.${of}`)),
  )
  t.deepEqual(ci.pack.needs, ['build', 'build-wasm'])
})

test('what the commands of all jobs name is there: files, scripts of npm, tests of the core', (t) => {
  const { scripts } = JSON.parse(read('package.json'))
  const found = { files: 0, scripts: 0, tests: 0 }
  for (const job of jobs) {
    const text = `${commands(job)}\n${JSON.stringify(job.strategy ?? {})}` // a matrix has parts of commands
    for (const [name] of text.matchAll(/(?<![\w./-])(?:scripts|lab|packages|lib|__test__)\/[\w./-]*\w/g)) {
      found.files++
      t.true(fs.existsSync(path.join(root, name)), `${job.name}: ${name}`)
    }
    for (const [, name] of text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)) {
      found.scripts++
      t.true(Object.hasOwn(scripts, name), `${job.name}: npm run ${name}`)
    }
    for (const [, target, words] of text.matchAll(/cargo test .*--test (\w+) -- (.*)/g)) {
      found.tests++
      const folder = path.join('core', 'tests', target)
      const sources = fs.readdirSync(path.join(root, folder)).filter((name) => name.endsWith('.rs'))
      const wanted = `fn ${words.split(' ').at(-1)}`
      t.true(
        sources.some((name) => read(folder, name).includes(wanted)),
        `${job.name}: ${wanted}`,
      )
    }
  }
  t.true(found.files > 20 && found.scripts > 5 && found.tests > 1, JSON.stringify(found))
})

test('the targets of chaos and the projects of users that workflows name are there', (t) => {
  const { PLACES } = require('../../lab/chaos/scenarios/promotions.js')
  const { SOAKS } = require('../../lab/chaos/scenarios/soak.js')
  const { TOPOLOGIES } = require('../../lab/chaos/scenarios/server.js')
  const stores = ['redis', 'postgres', 'mysql', 'etcd']
  const known = ['local', 'service', ...stores, ...TOPOLOGIES]
  known.push(...Object.keys(SOAKS).map((name) => `soak ${name}`), ...PLACES.map((name) => `promotions ${name}`))
  const { target } = Object.values(jobsOf('chaos.yml')).find((job) => job.strategy?.matrix.target).strategy.matrix
  for (const name of target) t.true(known.includes(name), name)
  for (const name of TOPOLOGIES) t.true(target.includes(name), `chaos.yml runs ${name}`)
  const [, kinds] = /'(browser [^']*)'/.exec(read(folder, 'ci.yml'))
  for (const kind of kinds.split(' '))
    t.true(fs.existsSync(path.join(root, 'lab', 'consumers', kind.split(':')[0], 'check.js')), kind)
})

test('every action is named by its commit', (t) => {
  const used = jobs.flatMap(({ uses, steps }) => [uses, ...steps.map((step) => step.uses)]).filter(Boolean)
  t.true(used.length > 60, `only ${used.length}`)
  t.deepEqual(
    used.filter((each) => !/^[\w-]+\/[\w-]+@[\da-f]{40}$/.test(each)),
    ['./.github/workflows/ci.yml'],
  )
})

test('a release is built with one version of Rust', (t) => {
  const withRust = makers.filter((job) => commands(job).includes('rustup'))
  t.deepEqual(withRust.map(({ name }) => name).sort(), ['build', 'sbom'])
  for (const job of withRust) {
    t.regex(job.env.RUSTUP_TOOLCHAIN, /^\d+\.\d+\.\d+$/)
    t.is(job.env.RUSTUP_TOOLCHAIN, ci.build.env.RUSTUP_TOOLCHAIN)
    t.deepEqual(commands(job).match(/rustup .*? install \S+/g), ['rustup toolchain install "$RUSTUP_TOOLCHAIN"'])
  }
})

test('npm runs no script of a package, and installs only what is locked', (t) => {
  const scripts = ['.ci/run', 'scripts/install.js', 'scripts/memcheck/index.js', 'site/build.js']
  const texts = [...jobs.map((job) => [job.name, commands(job)]), ...scripts.map((name) => [name, read(name)])]
  let installs = 0
  for (const [name, text] of texts) {
    t.notRegex(text, /npm (?:i|install|exec)\b|npx --yes/, name)
    for (const [line] of text.matchAll(/npm ci\b(?! in ).*/g)) {
      t.regex(line, /^npm ci --ignore-scripts/, name)
      installs++
    }
  }
  t.true(installs > 8, `only ${installs}`)
})

test('few jobs of a release have a right to write, and none of them builds or installs anything', (t) => {
  for (const { file, permissions } of workflows) t.deepEqual(permissions, { contents: 'read' }, file)
  const writing = jobs.filter(({ permissions = {} }) => Object.values(permissions).includes('write'))
  t.deepEqual(writing.map(({ name }) => name).sort(), [
    'docs.yml: publish',
    'release.yml: github-release',
    'release.yml: publish',
    'release.yml: publish-image',
  ])
  for (const job of writing) t.notRegex(commands(job), /npm (?!view)|rustup|cargo|pip|apt/, job.name)
})

test('a person approves what is published', (t) => {
  t.is(release.publish.environment, 'npm')
  t.is(release['publish-image'].environment, 'npm')
  const [{ run }] = release.publish.steps
  const [, filter] =
    /^gh api "repos\/\$GITHUB_REPOSITORY\/environments\/npm" --jq '\.protection_rules\[\]\.type' \| (.*)$/.exec(run)
  const passes = (types) => spawnSync('sh', ['-ec', filter], { input: types, encoding: 'utf8' }).status === 0
  if (process.platform === 'win32') return
  t.true(passes('wait_timer\nrequired_reviewers\nbranch_policy\n'))
  t.false(passes('wait_timer\nbranch_policy\n'))
  t.false(passes(''))
})

test('release.yml publishes nothing before all of ci.yml has passed', (t) => {
  t.is(release.ci.uses, './.github/workflows/ci.yml')
  t.is(release.publish.needs, 'ci')
  const published = release.publish.steps.filter(({ run }) => run?.includes('publish')).map(({ run }) => run)
  t.deepEqual(published, ['node scripts/publish.js "$GITHUB_REF_NAME" tarballs "$DIGESTS" --provenance'])
  // The rest of a release waits for an install from npm.
  t.deepEqual(release.installed.needs, ['ci', 'publish'])
  t.regex(commands(release.installed), /^node scripts\/check-published\.js "\$GITHUB_REF_NAME" "\$DIGESTS"$/m)
  for (const name of ['github-release', 'publish-image']) t.is(release[name].needs[0], 'installed', name)
  // Only the first version of a package has a token, which may stage.
  const secrets = read(folder, 'release.yml').match(/\bsecrets\.\w+/g)
  t.deepEqual(secrets, ['secrets.NPM_FIRST_TOKEN'])
  t.is(release.publish.steps.at(-1).env.FIRST_TOKEN, expression('secrets.NPM_FIRST_TOKEN'))
  for (const [name, job] of [...Object.entries(ci), ...Object.entries(release)]) {
    t.is(job['continue-on-error'], undefined, name)
    t.is(job.if, undefined, `${name}: a skipped job counts as passed`)
    for (const step of job.steps ?? []) t.is(step['continue-on-error'], undefined, name)
  }
})

test('what is published is what was tested: ci.yml packs once, and every test waits for that', (t) => {
  const named = (job, action) => actions(job, action).map(({ name }) => name)
  const packing = Object.entries(ci).filter(([, job]) => commands(job).includes('pack-release'))
  t.deepEqual(
    packing.map(([name]) => name),
    ['pack'],
  )
  t.deepEqual(named(ci.pack, 'upload-artifact'), ['dist', 'tarballs'])
  const tests = ['test', 'test-musl', 'test-ia32', 'runtimes', 'consumers']
  t.deepEqual(Object.keys(ci), ['lint', 'build', 'build-wasm', 'pack', ...tests])
  for (const name of tests) {
    t.is(ci[name].needs, 'pack', name)
    t.true(named(ci[name], 'download-artifact').includes('dist'), name)
  }
  t.true(named(ci.consumers, 'download-artifact').includes('tarballs'))
  t.deepEqual(named(release.publish, 'download-artifact'), ['tarballs'])
})

test('Python tools are installed by hash, in one place', (t) => {
  const lists = fs.readdirSync(path.join(root, 'scripts', 'python'))
  for (const name of lists) {
    const requirements = read('scripts', 'python', name).replaceAll('\\\n', ' ').trim().split('\n')
    for (const line of requirements) t.regex(line, /^[\w.-]+==[\w.]+( +--hash=sha256:[\da-f]{64})+$/, name)
  }
  const sources = fs
    .readdirSync(path.join(root, 'scripts'), { recursive: true })
    .filter((name) => /\.(?:js|mjs|sh)$/.test(name))
    .map((name) => [name.split(path.sep).join('/'), read('scripts', name)])
  // The second installs a Node.js that only runs tests, where nothing is built for a release.
  const installing = sources.filter(([, text]) => /\bpip["']? install\b/.test(text))
  t.deepEqual(installing.map(([name]) => name).sort(), ['platforms/run/nodes.js', 'python-tools.sh'])
  t.regex(read('scripts', 'python-tools.sh'), /pip" install .*--require-hashes --only-binary :all: /)
  for (const job of jobs) t.notRegex(commands(job), /\bpipx?\b/, job.name)
})
