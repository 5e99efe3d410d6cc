'use strict'
// @ts-check

// Errors about servers that make IDs for a leased generator while no slot gives any (`elseFrom`).

const { flakeError } = require('./flake-error.js')

/** @typedef {Error & { code?: string, cause?: unknown }} CodedError */

/**
 * `ERR_FLAKE_CONFIG_MISMATCH`: the server's IDs have another layout than ours.
 * @param {string} server
 * @param {string} name
 * @param {string | null} theirs
 * @param {string} ours
 */
function otherLayoutError(server, name, theirs, ours) {
  const has = theirs === null ? 'says no layout, as for a SegmentId' : `has the layout ${theirs}`
  const message =
    `${server}: '${name}' ${has}, and this generator has ${ours}. Its IDs could be equal to ours. Give elseFrom the URL of ` +
    'a server that makes IDs for this group, and the name that the group has there.'
  return flakeError(Error, 'ERR_FLAKE_CONFIG_MISMATCH', message, { server, theirs: theirs ?? undefined, ours })
}

/**
 * `ERR_FLAKE_CONFIG_MISMATCH`: the server's slots are those of another group or store.
 * @param {string} server
 * @param {string} name
 * @param {string} group
 */
function otherStoreError(server, name, group) {
  const message =
    `${server}: the slots of '${name}' are not those of group '${group}' on the store of this generator. Its IDs could be ` +
    'equal to ours. Give elseFrom the URL of a server on the same store, and the name that the group has there.'
  return flakeError(Error, 'ERR_FLAKE_CONFIG_MISMATCH', message, { server, group })
}

/**
 * Neither a slot nor a server gives IDs. It has the code and the fields of what went wrong with the servers, and why there
 * is no slot as its `cause`.
 * @param {string} group
 * @param {Error} slot why no slot gives IDs
 * @param {CodedError} servers why no server does
 */
function noSourceError(group, slot, servers) {
  const { code = 'ERR_FLAKE_REMOTE', cause, ...fields } = servers
  const message =
    `Nobody gives IDs to this generator of group '${group}'. The store: ${slot.message} The servers of elseFrom: ` +
    servers.message
  return flakeError(Error, code, message, { ...fields, group, cause: slot })
}

module.exports = { noSourceError, otherLayoutError, otherStoreError }
