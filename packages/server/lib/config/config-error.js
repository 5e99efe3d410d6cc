'use strict'
// @ts-check

// What is wrong with the configuration: one sentence for whoever starts the server, which then ends with status 2.

const { nearest } = require('../nearest.js')

class ConfigError extends Error {}

/**
 * A word that is not known, with the one that may be meant.
 * @param {string} what such as "option '--prot'"
 * @param {string} word
 * @param {readonly string[]} known
 * @param {(word: string) => string} [show]
 */
function unknown(what, word, known, show = (each) => `'${each}'`) {
  const meant = nearest(word, known)
  const hint = meant === undefined ? `There are ${known.map(show).join(', ')}.` : `Did you mean ${show(meant)}?`
  return new ConfigError(`Unknown ${what}. ${hint}`)
}

module.exports = { ConfigError, unknown }
