'use strict'
// @ts-check

// Every dialect with its own epoch and choices, by name. It takes a millisecond to make them all, so this happens when
// somebody first asks for them. It must never load lib/layout/layout.js itself: test runners clear Node's cache, and then
// that would be another copy, with a class of its own.

const { DIALECTS } = require('./layout-spec.js')

/**
 * @param {(name: string) => import('./layout.js').Layout} layoutNamed of the copy of the package that asks
 */
const makeLayouts = (layoutNamed) =>
  Object.freeze(Object.fromEntries(DIALECTS.map((name) => [name, layoutNamed(name)])))

module.exports = { makeLayouts }
