// The controller of docs/data/input.md in a NestJS application: compiled with its types, and asked over HTTP. NestJS has so many packages
// that they have no lock file here; those that are named have exact versions.

const fs = require('node:fs')
const path = require('node:path')
const { npm } = require('../../../scripts/pack.js')
const { packed, run } = require('../project.js')

const root = path.join(__dirname, '..', '..', '..')
const folder = path.join(root, 'target', 'consumers', 'nestjs')

const PACKAGES = [
  '@nestjs/common@12.5.1',
  '@nestjs/core@12.5.1',
  '@nestjs/platform-express@12.5.1',
  '@types/node@20.19.43',
  'reflect-metadata@0.2.2',
  'rxjs@7.8.2',
  'typescript@5.9.3',
]

const COMPILER = '--target es2022 --module nodenext --strict --experimentalDecorators --emitDecoratorMetadata'.split(
  ' ',
)

const ANSWERS = [
  /^200 \{"id":"7529332683575394305"\}$/,
  /^400 .*"the ID is not decimal text of 64 bits"/,
  /^400 .*"the ID is not decimal text of 64 bits"/,
]

function install() {
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const packages = [...PACKAGES, ...Object.values(packed())]
  npm(['install', '--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], folder)
}

/** The page's code in a file, beside the application. */
function writePrograms() {
  const page = fs.readFileSync(path.join(root, 'docs', 'data', 'input.md'), 'utf8')
  const [, code] = /^With \*\*NestJS\*\*.*?^```typescript\n(.*?)^```$/ms.exec(page)
  fs.writeFileSync(path.join(folder, 'customers.ts'), code)
  fs.copyFileSync(path.join(__dirname, 'main.ts'), path.join(folder, 'main.ts'))
}

module.exports = async function check(report) {
  install()
  writePrograms()
  const compiled = run('npx', ['tsc', ...COMPILER, 'main.ts'], folder)
  report('nestjs: what the guide shows compiles', compiled)
  if (!compiled.ok) return
  const { ok, stdout, output } = run(process.execPath, ['main.js'], folder)
  const lines = stdout.trimEnd().split('\n')
  const asPromised = lines.length === ANSWERS.length && ANSWERS.every((answer, i) => answer.test(lines[i]))
  report('nestjs: it takes an ID, and answers 400 to what is none', { ok: ok && asPromised, output })
}
