'use strict'

// Every dialect with its own epoch and choices, by name. They are all made when this file is loaded, so nothing that makes
// the first ID may load it.

const { Layout } = require('./layout.js')
const { DIALECTS } = require('./layout-spec.js')

const layouts = Object.freeze(Object.fromEntries(DIALECTS.map((name) => [name, Layout.of(name, {})])))

module.exports = { layouts }
