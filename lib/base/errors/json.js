'use strict'
// @ts-check

// The error about an ID in JSON. It must never use a module of Node: the main entry of browsers has it too.

const { flakeError, show } = require('./flake-error.js')

/**
 * `ERR_FLAKE_ID`: a value in JSON that is not an ID, and the key that it stands under.
 * @param {string} key
 * @param {unknown} value
 * @param {string} wanted
 * @param {string} [hint] a sentence about this value, with a space before it
 */
function jsonIdError(key, value, wanted, hint = '') {
  const message = `The value of key ${show(key)} must be ${wanted}, but is ${show(value)}.${hint}`
  return flakeError(TypeError, 'ERR_FLAKE_ID', message, { key, value })
}

module.exports = { jsonIdError }
