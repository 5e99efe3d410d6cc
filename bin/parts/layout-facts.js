'use strict'
// @ts-check

// What the command needs of a layout that users do not see: the names of its node fields, their environment variables, and
// the figures that the layout's system sets.

/** @import { Layout } from '../../index.d.ts' */

const { factsOf: libraryFactsOf } = require('../../lib/codec/layout.js')
const { variableOf } = require('../../lib/layout/node-number.js')

/**
 * @typedef {object} LayoutFacts
 * @property {string[]} nodeNames of the node fields
 * @property {number} tickMs
 * @property {number} maxAheadMs
 * @property {number} maxWaitMs
 */

/**
 * @param {Layout} layout
 * @returns {LayoutFacts}
 */
const factsOf = (layout) => libraryFactsOf(layout)

module.exports = { factsOf, variableOf }
