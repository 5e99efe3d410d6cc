// The code of docs/data/ for frameworks and validators: compiled with their types, and run. They have so many packages that
// there is no lock file here; those that are named have exact versions.

const fs = require('node:fs')
const path = require('node:path')
const { npm } = require('../../../scripts/pack.js')
const { programOf } = require('../../../scripts/runtimes.js')
const { packed, run } = require('../project.js')

const root = path.join(__dirname, '..', '..', '..')
const folder = path.join(root, 'target', 'consumers', 'frameworks')

const PACKAGES = [
  '@hono/standard-validator@0.4.0',
  '@nestjs/common@12.5.1',
  '@nestjs/core@12.5.1',
  '@nestjs/platform-express@12.5.1',
  '@standard-schema/spec@1.1.0',
  '@trpc/server@11.25.2',
  '@types/express@5.0.6',
  '@types/node@20.19.43',
  'arktype@2.2.9',
  'better-auth@1.7.25',
  'class-transformer@0.5.1',
  'class-validator@0.15.1',
  'drizzle-orm@0.45.4',
  'hono@4.13.19',
  'reflect-metadata@0.2.2',
  'rxjs@7.8.2',
  'typescript@5.9.3',
  'valibot@1.5.0',
  'zod@4.6.7',
]

const COMPILER =
  '--target es2022 --module nodenext --strict --skipLibCheck --experimentalDecorators --emitDecoratorMetadata'.split(
    ' ',
  )

/** Each block of code: its page, the first words of its paragraph, and its file. */
const BLOCKS = [
  ['input.md', 'With **NestJS** on Express', 'app.ts'],
  ['input.md', 'With **NestJS**, use that decorator', 'customers.ts'],
  ['input.md', 'With **class-validator**', 'is-flake-id.ts'],
  ['input.md', 'A **[Standard Schema]', 'standard-schema.mjs'],
  ['databases.md', "better-auth's tables", 'auth.mjs'],
]

const NOT_AN_ID = /^400 .*must be an ID: decimal text of 64 bits/

const KINDS = {
  nestjs: [
    'it takes an ID, answers 400 to what is not one, writes bigints as text, and gives its slot back on SIGTERM',
    [
      /^200 \{"id":"7529332683575394305"\}$/,
      /^400 .*"the ID is not decimal text of 64 bits"/,
      /^400 .*"the ID is not decimal text of 64 bits"/,
      /^201 \{"id":"\d+","company":"7529332683575394305","tags":\["1","2"\]\}$/,
      NOT_AN_ID,
      NOT_AN_ID,
      /^400 .*tags must be an array/,
      NOT_AN_ID, // null, text that is not decimal, a Buffer
      NOT_AN_ID,
      NOT_AN_ID,
      /^detached$/,
    ],
  ],
  validators: [
    'ArkType, tRPC and Hono take typed IDs; zod and valibot take them, and isId, in schemas of their own',
    [
      /^7529332683575394305$/, // this and the next two: what the page's own lines print
      /^1$/,
      /^1$/,
      /^arktype 7529332683575394305$/,
      /^arktype .*'12x' is not an ID in dec/,
      /^trpc 7529332683575394305$/,
      /^trpc BAD_REQUEST$/,
      /^hono 200 7529332683575394305$/,
      /^hono 400 /,
      /^custom true false true false$/,
      /^zod 7529332683575394305$/,
      /^zod false$/,
      /^valibot 7529332683575394305$/,
      /^valibot false$/,
    ],
  ],
  'better-auth': [
    'a user, an account and a session get IDs',
    [/^user \d{19}$/, /^account \d{19}$/, /^session \d{19}$/],
  ],
}

function install() {
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const packages = [...PACKAGES, ...Object.values(packed())]
  npm(['install', '--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], folder)
}

/** Writes the pages' code into files, next to the programs that use it. */
function writePrograms() {
  for (const [page, start, file] of BLOCKS) {
    const text = fs.readFileSync(path.join(root, 'docs', 'data', page), 'utf8')
    const [, code] = /^```\w+\n(.*?)^```$/ms.exec(text.slice(text.indexOf(`\n${start}`)))
    fs.writeFileSync(path.join(folder, file), code)
  }
  for (const file of ['nestjs.ts', 'typed-ids.ts', 'validators.mjs', 'better-auth.mjs', 'database.js'])
    fs.copyFileSync(path.join(__dirname, file), path.join(folder, file))
}

const agrees = (stdout, lines) => {
  const printed = stdout
    .trimEnd()
    .split('\n')
    .filter((line) => !line.includes('[Nest]')) // Nest's log
  return printed.length === lines.length && lines.every((line, i) => line.test(printed[i]))
}

module.exports = async function check(report, wants) {
  install()
  writePrograms()
  const compiled = run('npx', ['tsc', ...COMPILER, 'nestjs.ts', 'typed-ids.ts'], folder)
  report('frameworks: what the guide shows compiles', compiled)
  if (!compiled.ok) return
  for (const [kind, [what, lines]] of Object.entries(KINDS)) {
    if (!wants(kind)) continue
    const file = kind === 'nestjs' ? 'nestjs.js' : `${kind}.mjs`
    const { stdout, output } = run(programOf('node-24'), [file], folder)
    report(`${kind}: ${what}`, { ok: agrees(stdout, lines), output })
  }
}
