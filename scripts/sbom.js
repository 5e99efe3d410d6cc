'use strict'

// What a release is made of, as CycloneDX: `node scripts/sbom.js > flakeforge.cdx.json`. npm describes the package, and
// Cargo lists the crates in the addons of all platforms: no build tools, and nothing that only tests use.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { npm } = require('./pack.js')

const root = path.join(__dirname, '..')
const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))

/** Cargo's tree: a line for each crate, which begins with its depth; one tree for each target. */
function cargoTree() {
  const targets = manifest.napi.targets.flatMap((target) => ['--target', target])
  const shape = ['--edges', 'normal,no-proc-macro', '--no-dedupe', '--prefix', 'depth', '--format', '{p}|{l}|{r}']
  const args = ['tree', '--quiet', '--locked', '--package', 'flakeforge', ...targets, ...shape]
  return execFileSync('cargo', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
}

/** The SHA-256 of each crate that comes from the registry, by name and version. */
function checksums() {
  const lock = fs.readFileSync(path.join(root, 'Cargo.lock'), 'utf8')
  const packages = lock.matchAll(/^name = "(.*)"\nversion = "(.*)"\n(?:source = .*\nchecksum = "(.*)")?/gm)
  return new Map([...packages].map(([, name, version, checksum]) => [`${name}@${version}`, checksum]))
}

function parse(line) {
  const [, depth, name, version, license, url] = line.match(/^(\d+)(\S+) v(\S+)[^|]*\|([^|]*)\|(.*)$/)
  return { depth: Number(depth), name, version, license, url, ref: `pkg:cargo/${name}@${version}` }
}

function component({ name, version, license, url, ref }, checksum) {
  return {
    'bom-ref': ref,
    type: 'library',
    name,
    version,
    scope: 'required',
    ...(checksum && { hashes: [{ alg: 'SHA-256', content: checksum }] }),
    licenses: [{ expression: license }],
    purl: ref,
    externalReferences: [{ type: 'vcs', url }],
  }
}

/** The crates, and which of them each uses. The crate at depth 0 is the addon. */
function crates() {
  const sums = checksums()
  const components = new Map()
  const uses = new Map()
  const above = [] // the crates from the addon down to the present line
  for (const crate of cargoTree().map(parse)) {
    above.length = crate.depth
    components.set(crate.ref, component(crate, sums.get(`${crate.name}@${crate.version}`)))
    if (!uses.has(crate.ref)) uses.set(crate.ref, new Set())
    uses.get(above.at(-1)?.ref)?.add(crate.ref)
    above.push(crate)
  }
  const dependencies = [...uses].map(([ref, refs]) => ({ ref, dependsOn: [...refs].sort() }))
  return { components: [...components.values()], dependencies }
}

function sbom() {
  const shape = ['--sbom-format', 'cyclonedx', '--sbom-type', 'library']
  const omit = ['dev', 'optional', 'peer'].flatMap((kind) => ['--omit', kind])
  const bom = JSON.parse(npm(['sbom', '--package-lock-only', ...shape, ...omit], root))
  bom.metadata.component.name = manifest.name // npm writes the folder's name
  const { components, dependencies } = crates()
  const addon = dependencies[0].ref
  bom.components.push(...components)
  bom.dependencies.find(({ ref }) => ref === bom.metadata.component['bom-ref']).dependsOn.push(addon)
  bom.dependencies.push(...dependencies)
  return bom
}

console.log(JSON.stringify(sbom(), null, 2))
