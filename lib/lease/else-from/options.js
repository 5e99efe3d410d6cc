'use strict'
// @ts-check

// The option `elseFrom` of join(), checked. It must never be loaded unless the option is given.

const { refuseUnknown } = require('../../base/check.js')
const { KEYS, readRemote } = require('../../remote/options.js')

/**
 * @import { Options } from '../../base/check.js'
 * @import { RemoteSettings } from '../../remote/options.js'
 */

/**
 * Where IDs come from while no slot gives any. Usually they have the group's name there.
 * @param {unknown} given URLs, or an object with them and with options of RemoteFlakeId.connect()
 * @param {string} group
 * @returns {RemoteSettings}
 */
function readElseFrom(given, group) {
  const isPlain = typeof given === 'object' && !Array.isArray(given) && !(given instanceof URL)
  const options = isPlain ? refuseUnknown(/** @type {Options} */ (given), ['urls', ...KEYS]) : { urls: given }
  try {
    return readRemote(options.urls, { ...options, name: options.name ?? group })
  } catch (error) {
    throw inElseFrom(/** @type {Error & { option?: string }} */ (error))
  }
}

/**
 * The same error under the name that the option has here.
 * @param {Error & { option?: string }} error
 */
function inElseFrom(error) {
  if (error.option === undefined) return error
  const option = error.option === 'urls' ? 'elseFrom' : `elseFrom.${error.option}`
  error.message = error.message.replace(error.option, option)
  return Object.assign(error, { option })
}

module.exports = { readElseFrom }
