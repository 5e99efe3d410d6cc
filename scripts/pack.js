'use strict'

// Packs flakeforge, the package of this platform and the server as they are published: `node scripts/pack.js FOLDER`
// leaves three tarballs there, and the files with which `npm ci` installs them for an image. The addon must have been built. pack-release.js packs those of all platforms. Files in
// git stay unchanged: only dist/ and the server's page are written.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const notices = require('./notices.js')
const { TARGETS } = require('./platforms/targets.js')
const { writeLock } = require('./server-lock.js')

const root = path.join(__dirname, '..')
const { platform, arch } = process

const WASM = '@flakeforge/binding-wasm32-wasi'

// Variables that `npm test` and `npm run` set for their children must not reach the npm that packs and installs.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))

/** Runs npm in a folder; on Windows it is a command file, which only a shell can run. */
function npm(args, cwd) {
  const options = { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }
  if (platform !== 'win32') return execFileSync('npm', args, options)
  const quoted = args.map((arg) => (arg.includes(' ') ? `"${arg}"` : arg))
  return execFileSync('npm.cmd', quoted, { ...options, shell: true })
}

/** The packages under npm/: their folder, and their package.json. */
function allPackages() {
  return fs.readdirSync(path.join(root, 'npm')).map((name) => {
    const folder = path.join(root, 'npm', name)
    return { folder, manifest: JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) }
  })
}

const isPlatform = ({ manifest }) => manifest.main.endsWith('.node')

/** The packages with a binary, one for each target of napi in package.json. */
const platformPackages = () => allPackages().filter(isPlatform)

/** The package with the WebAssembly, and those that install it where no binary fits. */
const wasmPackages = () => allPackages().filter((each) => !isPlatform(each))

/** The platform package that the addon in the root belongs to. */
function ownPlatform() {
  const own = platformPackages().find(({ manifest }) => {
    const fits = manifest.os.includes(platform) && manifest.cpu.includes(arch)
    return fits && fs.existsSync(path.join(root, manifest.main))
  })
  if (own === undefined) throw new Error('The root has no addon for this platform. Run `npm run build`.')
  return own
}

const buildDist = () =>
  execFileSync(process.execPath, [path.join(root, 'scripts', 'dist.js')], { stdio: ['ignore', 2, 2] })

/** Packs a folder into another and returns the tarball's path. */
function pack(folder, target) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target]
  const [{ filename }] = JSON.parse(npm(args, folder))
  return path.join(target, filename)
}

/**
 * Writes the texts of a published package under npm/ that are not in git. The package of the WebAssembly has its own.
 */
function writeTexts({ folder, manifest }) {
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'))
  const target = TARGETS.find(({ name }) => manifest.name.endsWith(`binding-${name}`))
  if (target !== undefined) fs.writeFileSync(path.join(folder, notices.FILE), notices.noticesFor(target.triple))
  if (manifest.name === WASM) return
  const text =
    'A part of [flakeforge](https://www.npmjs.com/package/flakeforge), which `npm install` brings where it fits.'
  fs.writeFileSync(path.join(folder, 'README.md'), `# ${manifest.name}\n\n${text}\n`)
}

/** The platform package as a release makes it: its folder with the addon and the texts in it. */
function completePlatform({ folder, manifest }, target) {
  fs.cpSync(folder, target, { recursive: true })
  writeTexts({ folder: target, manifest })
  fs.copyFileSync(path.join(root, manifest.main), path.join(target, manifest.main))
}

/** The parts of package.json for contributors, which are not published. */
const DEVELOPMENT = ['workspaces', 'devDependencies', 'overrides', 'napi', 'scripts', 'ava']

/**
 * Packs flakeforge into a folder, as it is published: it names the platform packages, one of which fits the user's
 * machine.
 */
function packMain(target, parts) {
  buildDist()
  const complete = fs.mkdtempSync(path.join(target, 'main-'))
  const main = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  for (const file of ['README.md', 'LICENSE', ...main.files])
    fs.cpSync(path.join(root, file), path.join(complete, file), { recursive: true })
  for (const each of DEVELOPMENT) delete main[each]
  main.optionalDependencies = Object.fromEntries(parts.map(({ name, version }) => [name, version]))
  fs.writeFileSync(path.join(complete, 'package.json'), `${JSON.stringify(main, null, 2)}\n`)
  const tarball = pack(complete, target)
  fs.rmSync(complete, { recursive: true })
  return tarball
}

/**
 * Packs both packages into a folder.
 * @returns {{ main: string, platform: string }} the paths of the two tarballs
 */
function packAll(target) {
  fs.mkdirSync(target, { recursive: true })
  const complete = fs.mkdtempSync(path.join(target, 'platform-'))
  completePlatform(ownPlatform(), complete)
  const tarballs = { main: packMain(target, [ownPlatform().manifest]), platform: pack(complete, target) }
  fs.rmSync(complete, { recursive: true })
  return tarballs
}

/** A separate package, in a workspace. */
function workspacePackage(name) {
  const folder = path.join(root, 'packages', name)
  return { folder, manifest: JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) }
}

/** Packs it with the licence, which is in git once, and without the parts for contributors. */
function packWorkspace({ folder, manifest }, target) {
  const complete = fs.mkdtempSync(path.join(target, 'workspace-'))
  for (const file of ['README.md', ...manifest.files])
    fs.cpSync(path.join(folder, file), path.join(complete, file), { recursive: true })
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(complete, 'LICENSE'))
  const published = { ...manifest }
  for (const each of DEVELOPMENT) delete published[each]
  fs.writeFileSync(path.join(complete, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  const tarball = pack(complete, target)
  fs.rmSync(complete, { recursive: true })
  return tarball
}

const serverPackage = () => workspacePackage('server')
const packCheckStore = (target) => packWorkspace(workspacePackage('check-store'), target)

/** Builds the page in the server's package. */
function buildPage() {
  execFileSync(process.execPath, [path.join(root, 'scripts', 'page', 'build.js')], { cwd: root, stdio: 'inherit' })
}

/**
 * Packs the server into a folder.
 * @returns {string} the path of its tarball
 */
function packServer(target) {
  fs.mkdirSync(target, { recursive: true })
  buildDist()
  buildPage()
  return packWorkspace(serverPackage(), target)
}

module.exports = {
  WASM,
  allPackages,
  buildDist,
  isPlatform,
  npm,
  ownPlatform,
  pack,
  packAll,
  packCheckStore,
  packMain,
  packServer,
  platformPackages,
  serverPackage,
  wasmPackages,
  writeTexts,
}

if (require.main === module) {
  const [target] = process.argv.slice(2)
  if (target === undefined) {
    console.error('usage: node scripts/pack.js FOLDER')
    process.exitCode = 2
  } else {
    const folder = path.resolve(target)
    const tarballs = [...Object.values(packAll(folder)), packServer(folder)]
    writeLock(
      folder,
      tarballs.map((file) => path.basename(file)),
    )
    console.log(tarballs.join('\n'))
  }
}
