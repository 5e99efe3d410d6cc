'use strict'

// Which versions of the client packages a store works with. They are not in package.json: a range there would refuse to
// install beside an older client, even if no store uses that client.
//
// We recognise a user's client by what it can do, because several copies of its package may be installed. Only the text
// of an error names the version that was found.

const { clientError, storeError } = require('../../base/errors')
const { load, versionOf } = require('./packages')

/** The first version that a URL works with, and why older ones do not. */
const FIRST = {
  ioredis: { first: [5, 4, 0], why: 'older ones keep a connection that has died without a word' },
  redis: { first: [4, 3, 0], why: 'older ones keep the process alive' },
  pg: { first: [8, 0, 3], why: 'older ones never connect on Node 14 and newer' },
  mysql2: { first: [2, 3, 3], why: 'older ones were never tried' },
  mariadb: { first: [3, 2, 3], why: 'older ones keep the process alive' },
  postgres: { first: [3, 4, 8], why: 'older ones may report what was never committed' },
}

function isOlder(version, first) {
  const at = first.findIndex((part, i) => part !== version[i])
  return at >= 0 && version[at] < first[at]
}

/** The version of a package that is installed and too old, as text. */
function oldVersion(name) {
  const version = versionOf(name)
  return version !== undefined && isOlder(version, FIRST[name].first) ? version.join('.') : undefined
}

const needed = (name) => {
  const { first, why } = FIRST[name]
  return `Version ${first.join('.')} or newer is needed, because ${why}. Run \`npm install ${name}@latest\`.`
}

/** `ERR_FLAKE_OPTION`: the package of the given client is too old. */
function oldClientError(client, name) {
  const found = oldVersion(name)
  return clientError(
    client,
    `It is of ${found === undefined ? `an old version of ${name}` : `${name} ${found}`}. ${needed(name)}`,
  )
}

/**
 * The first of these client packages that is installed and new enough, with its name; or `ERR_FLAKE_STORE`, which says what
 * to install.
 */
function loadClient(scheme, names) {
  const [favourite, ...others] = names
  const older = []
  for (const name of names) {
    const old = oldVersion(name)
    if (old !== undefined) older.push({ name, old })
    const loaded = old === undefined ? load(name) : undefined
    if (loaded !== undefined) return { name, loaded }
  }
  if (older.length > 0) {
    const [{ name, old }] = older
    throw storeError(`${name} ${old} is too old for a ${scheme}:// store. ${needed(name)}`)
  }
  throw storeError(
    `a ${scheme}:// store needs a client package: \`npm install ${favourite}\` (or \`${others.join('`, `')}\`)`,
  )
}

module.exports = { loadClient, oldClientError, oldVersion }
