'use strict'

// Every dialect with its own epoch and choices, by name. It takes a millisecond to make them all, so this happens when
// somebody first asks for them.

const { DIALECTS } = require('./layout-spec.js')

/** @param Layout the class, of the copy of the package that asks */
const makeLayouts = (Layout) => Object.freeze(Object.fromEntries(DIALECTS.map((name) => [name, Layout.of(name, {})])))

module.exports = { makeLayouts }
