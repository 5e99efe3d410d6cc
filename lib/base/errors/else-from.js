'use strict'
// @ts-check

// Errors about servers that make IDs for a leased generator while no slot gives any (`elseFrom`).

const { flakeError } = require('./flake-error.js')

/** @typedef {Error & { code?: string, cause?: unknown }} CodedError */

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

module.exports = { noSourceError }
