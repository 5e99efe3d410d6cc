'use strict'
// @ts-check

// The parameters after the question mark. An unknown one is an error: with ?count=5 somebody wants five IDs, not one.

const { Problem } = require('./problems.js')
const { nearest } = require('../nearest.js')

/**
 * A copy with these parameters only, each given once.
 * @param {Record<string, unknown>} query
 * @param {string[]} known
 * @returns {Record<string, string | undefined>}
 */
function readQuery(query, known) {
  for (const [name, value] of Object.entries(query)) {
    if (!known.includes(name)) throw unknown(name, known)
    if (typeof value !== 'string') throw new Problem(400, 'ERR_FLAKE_OPTION', `${name} was given more than once.`)
  }
  return /** @type {Record<string, string>} */ ({ ...query })
}

/**
 * @param {string} name
 * @param {string[]} known
 */
function unknown(name, known) {
  const meant = nearest(name, known)
  const all =
    known.length === 0 ? 'There are none here.' : `There ${known.length > 1 ? 'are' : 'is'} ${known.join(', ')}.`
  const hint = meant === undefined ? all : `Did you mean ${meant}?`
  return new Problem(400, 'ERR_FLAKE_OPTION', `Unknown parameter '${name.slice(0, 30)}'. ${hint}`)
}

module.exports = { readQuery, unknown }
