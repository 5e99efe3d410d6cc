// index.d.ts as TypeScript users meet it: consumers in types/ are compiled against a copy of the package in a folder
// of its own, under each kind of module resolution, and those that Node can run are run.

import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'

const require = createRequire(import.meta.url)
const { files } = require('../package.json')
const here = import.meta.dirname
const root = path.join(here, '..')
const TSC = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')

/** Runs Node to its end, whatever the end is. */
async function node(args, cwd) {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd })
    return { code: 0, output: stdout }
  } catch ({ code, stdout, stderr }) {
    return { code, output: stdout + stderr }
  }
}

let temp

test.before(async () => {
  temp = await fs.mkdtemp(path.join(os.tmpdir(), 'flakeforge-types-'))
  const modules = path.join(temp, 'node_modules')
  const addons = (await fs.readdir(root)).filter((file) => file.endsWith('.node'))
  for (const file of ['package.json', ...files, ...addons])
    await fs.cp(path.join(root, file), path.join(modules, 'flakeforge', file), { recursive: true })
  for (const name of ['@types/node', 'undici-types'])
    await fs.cp(path.join(root, 'node_modules', name), path.join(modules, name), { recursive: true })
})

test.after.always(() => temp && fs.rm(temp, { recursive: true, maxRetries: 5 }))

const KINDS = {
  node16: ['--module', 'node16', '--moduleResolution', 'node16'],
  nodenext: ['--module', 'nodenext', '--moduleResolution', 'nodenext'],
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
}
const STRICT = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false']

/** Compiles sources, given by name, in a folder of its own: how tsc ended, what it said, and the folder. */
async function compile(kind, name, sources, more = []) {
  const folder = path.join(temp, `${kind}-${name}`)
  await fs.mkdir(folder)
  for (const [file, text] of Object.entries(sources)) await fs.writeFile(path.join(folder, file), text)
  const flags = [...STRICT, '--target', 'es2022', '--types', 'node', ...KINDS[kind], ...more]
  return { ...(await node([TSC, ...flags, ...Object.keys(sources)], folder)), folder }
}

async function consumers(...names) {
  const texts = await Promise.all(names.map((name) => fs.readFile(path.join(here, 'types', name), 'utf8')))
  return Object.fromEntries(names.map((name, i) => [name, texts[i]]))
}

for (const kind of ['node16', 'nodenext']) {
  test(`${kind}: ES and CommonJS consumers compile, and do what the types say`, async (t) => {
    const { folder, ...result } = await compile(kind, 'consumers', await consumers('consumer.mts', 'consumer.cts'))
    t.deepEqual(result, { code: 0, output: '' })
    for (const kindOfModule of ['mjs', 'cjs']) {
      const ran = await node([`consumer.${kindOfModule}`], folder)
      t.deepEqual(ran, { code: 0, output: `consumer.${kindOfModule.replace('j', 't')} is right\n` })
    }
  })
}

test('bundler: a consumer compiles', async (t) => {
  const { code, output } = await compile('bundler', 'consumer', await consumers('bundler.ts'))
  t.deepEqual({ code, output }, { code: 0, output: '' })
})

// `null` and `undefined` mean absent, in the strictest of settings too.
test('nodenext: an option may be an environment variable that is not set', async (t) => {
  const text = `import FlakeId, { format } from 'flakeforge'
new FlakeId({ datacenter: process.env.DATACENTER, worker: process.env.WORKER ?? null, clock: undefined })
format(5n, 'hex', { prefix: process.env.PREFIX })\n`
  const { code, output } = await compile('nodenext', 'exact', { 'exact.mts': text }, ['--exactOptionalPropertyTypes'])
  t.deepEqual({ code, output }, { code: 0, output: '' })
})

// The consumers above prove nothing unless a mistake makes tsc fail.
const MISTAKES = {
  TS2345: `import { Layout } from 'flakeforge'\nnew Layout(5)\n`,
  TS2322: `import FlakeId from 'flakeforge'\nexport const id: string = new FlakeId().next()\n`,
  TS2578: `import FlakeId from 'flakeforge'\n// @ts-expect-error: it is none\nnew FlakeId({ worker: 1 })\n`,
}

for (const kind of Object.keys(KINDS)) {
  test(`${kind}: mistakes do not compile`, async (t) => {
    for (const [error, text] of Object.entries(MISTAKES)) {
      const extension = kind === 'bundler' ? 'ts' : 'mts'
      const { code, output } = await compile(kind, error, { [`mistake.${extension}`]: text })
      t.not(code, 0)
      t.deepEqual(output.match(/TS\d+/g), [error], output)
    }
  })
}
