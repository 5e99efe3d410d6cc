'use strict'

// The components of a release, as CycloneDX: `node scripts/sbom.js > flakeforge.cdx.json`, and `node scripts/sbom.js
// server` for flakeforge-server. npm describes the packages, and Cargo lists the crates in the addons of all platforms:
// no build tools, and no crates that only tests use.

const fs = require('node:fs')
const path = require('node:path')
const { treeFor } = require('./crates.js')
const { npm, serverPackage } = require('./pack.js')

const root = path.join(__dirname, '..')
const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))

/** The SHA-256 of each crate that comes from the registry, by name and version. */
function checksums() {
  const lock = fs.readFileSync(path.join(root, 'Cargo.lock'), 'utf8')
  const packages = lock.matchAll(/^name = "(.*)"\nversion = "(.*)"\n(?:source = .*\nchecksum = "(.*)")?/gm)
  return new Map([...packages].map(([, name, version, checksum]) => [`${name}@${version}`, checksum]))
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
  for (const crate of treeFor(manifest.napi.targets)) {
    above.length = crate.depth
    components.set(crate.ref, component(crate, sums.get(`${crate.name}@${crate.version}`)))
    if (!uses.has(crate.ref)) uses.set(crate.ref, new Set())
    uses.get(above.at(-1)?.ref)?.add(crate.ref)
    above.push(crate)
  }
  const dependencies = [...uses].map(([ref, refs]) => ({ ref, dependsOn: [...refs].sort() }))
  return { components: [...components.values()], dependencies }
}

/** npm's description of this repository: the package as the root, and all packages that anything here uses. */
function npmSbom() {
  return JSON.parse(npm(['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], root))
}

/**
 * Everything that a package needs, including itself, without packages that only the repository needs: the root is not
 * searched.
 */
function reachable(ref, bom, found = new Set()) {
  if (found.has(ref)) return found
  found.add(ref)
  if (ref === bom.metadata.component['bom-ref']) return found
  const { dependsOn } = bom.dependencies.find((each) => each.ref === ref)
  for (const other of dependsOn) reachable(other, bom, found)
  return found
}

/** The package: it uses no other package of npm, but the crates in the addons. */
function main(bom) {
  if (manifest.dependencies !== undefined) throw new Error('package.json has dependencies now: the SBOM must list them')
  const { component } = bom.metadata
  const { components, dependencies } = crates()
  const uses = { ref: component['bom-ref'], dependsOn: [dependencies[0].ref] }
  return {
    component: { ...component, type: 'library', name: manifest.name }, // npm writes the folder's name
    components,
    dependencies: [uses, ...dependencies],
  }
}

/**
 * The server: the packages of npm that it is installed with, in the versions that are locked here, and everything in
 * the package.
 */
function server(bom) {
  const { name, version } = serverPackage().manifest
  const ref = `${name}@${version}`
  const refs = reachable(ref, bom)
  const own = main(bom)
  const component = bom.components.find((each) => each['bom-ref'] === ref)
  const isUsed = (each) => each !== ref && each !== own.component['bom-ref'] && refs.has(each)
  const packages = bom.components.filter((each) => isUsed(each['bom-ref']))
  const uses = bom.dependencies.filter((each) => each.ref === ref || isUsed(each.ref))
  return {
    component: { ...component, type: 'application', name },
    components: [own.component, ...packages, ...own.components],
    dependencies: [...uses, ...own.dependencies],
  }
}

const PARTS = { main, server }

function sbom(part) {
  const bom = npmSbom()
  const { component, components, dependencies } = PARTS[part](bom)
  return { ...bom, metadata: { ...bom.metadata, component }, components, dependencies }
}

const [part = 'main'] = process.argv.slice(2)
if (Object.hasOwn(PARTS, part)) {
  console.log(JSON.stringify(sbom(part), null, 2))
} else {
  console.error('usage: node scripts/sbom.js [main | server]')
  process.exitCode = 2
}
