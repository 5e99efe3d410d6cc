// The client packages of the user's project: where they are, and which versions a store supports. flakeforge depends on none
// of them, so each is loaded only when a store needs it.
//
// The versions are not in package.json: a range there would refuse to install beside an older client, even if no store uses
// that client. A user's client is recognised by its methods, because several copies of its package may be installed. Only
// error texts name the version that was found.

import { clientError, storeError } from '../base/errors.ts'
import { builtIn, load, lookups } from '../native/packages/search.ts'

const { existsSync, readFileSync } = process.getBuiltinModule('node:fs')
const { basename, dirname, join } = process.getBuiltinModule('node:path')

/** The first version that a URL works with, and why older ones do not. */
const FIRST: Record<string, { first: number[]; why: string }> = {
  ioredis: { first: [5, 4, 0], why: 'older ones keep a connection that has died silently' },
  iovalkey: { first: [0, 2, 1], why: 'older ones keep a connection that has died silently' },
  redis: { first: [4, 3, 0], why: 'older ones keep the process alive' },
  pg: { first: [8, 0, 3], why: 'older ones never connect on Node 14 and newer' },
  mysql2: { first: [3, 0, 0], why: 'older ones do not check whose certificate the server has' },
  mariadb: { first: [3, 2, 3], why: 'older ones keep the process alive' },
  postgres: { first: [3, 4, 8], why: 'older ones may report writes that were never committed' },
}

/**
 * Bun loads postgres.js as an ES module: `require` returns an object of all its exports instead of the default one.
 * @param loaded the result of `require`
 */
const exported = (loaded: any) => (typeof loaded === 'object' ? (loaded.default ?? loaded) : loaded)

/** The version of the package that a file belongs to, as numbers; undefined if it is unknown. */
function versionOf(name: string, path: string): number[] | undefined {
  try {
    for (let folder = dirname(path); basename(folder); folder = dirname(folder)) {
      const manifest = join(folder, 'package.json')
      const known = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {}
      if (known.name === name) return partsOf(known.version)
    }
  } catch {
    // a bundle or an archive, which does not show its version
  }
}

const partsOf = (version: string) => version.split('.').map((part) => Number.parseInt(part, 10))

function isOlder(version: number[], first: number[]) {
  const at = first.findIndex((part, i) => part !== version[i])
  return at >= 0 && version[at] < first[at]
}

/** The version of a package at this path if it is too old, as text. */
function oldVersionAt(name: string, path: string) {
  const version = versionOf(name, path)
  return version !== undefined && isOlder(version, FIRST[name].first) ? version.join('.') : undefined
}

/** The same for the package of this name that the program finds first. */
export function oldVersion(name: string) {
  for (const lookup of lookups()) {
    const path = lookup(name)
    if (path !== undefined) return oldVersionAt(name, path)
  }
}

function needed(name: string, first = FIRST[name].first) {
  const { why } = FIRST[name]
  return `Version ${first.join('.')} or newer is needed, because ${why}. Run \`npm install ${name}@latest\`.`
}

/** `ERR_FLAKE_OPTION`: the package of the given client is too old. */
export function oldClientError(client: unknown, name: string) {
  const found = oldVersion(name)
  return clientError(
    client,
    `It is from ${found === undefined ? `an old version of ${name}` : `${name} ${found}`}. ${needed(name)}`,
  )
}

/**
 * `ERR_FLAKE_STORE`: the installed package is too old for an address with this scheme.
 * @param first the version that this scheme needs, if it is newer than for others
 */
export const tooOldError = (scheme: string, name: string, found: string, first?: number[]) =>
  storeError(`${name} ${found} is too old for a ${scheme}:// store. ${needed(name, first)}`)

/**
 * The first of these packages that is installed and new enough; throws `ERR_FLAKE_STORE` with what to install. Of two that
 * are installed, the nearer one is meant: one further up may be that of another project of the workspace.
 */
function loadClient(scheme: string, names: string[]) {
  const older: { name: string; old: string }[] = []
  for (const lookup of lookups()) {
    for (const name of names.filter((name) => !older.some((known) => known.name === name))) {
      const path = lookup(name)
      if (path === undefined) continue
      const old = oldVersionAt(name, path)
      if (old === undefined) return { name, loaded: exported(load(path)) }
      older.push({ name, old })
    }
  }
  for (const name of names) {
    const loaded = builtIn()?.loadClient(name)
    if (loaded !== undefined) return { name, loaded: exported(loaded) }
  }
  if (older.length > 0) {
    const [{ name, old }] = older
    throw tooOldError(scheme, name, old)
  }
  const [favourite, ...others] = names
  throw storeError(
    `a ${scheme}:// store needs a client package: \`npm install ${favourite}\` (or \`${others.join('`, `')}\`)`,
  )
}

/**
 * Our own client for an address, from the package that the project has. It connects at the first step.
 * @param makers by the name of the package, the recommended one first
 */
export function openWithPackage<Client, Address = string>(
  scheme: string,
  makers: Record<string, (exports: any, address: Address) => Client>,
  address: Address,
) {
  const { name, loaded } = loadClient(scheme, Object.keys(makers))
  return makers[name](loaded, address)
}
