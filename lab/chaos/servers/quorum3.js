'use strict'

// Three servers of three kinds, as one store.

const { start } = require('./majority.js')

module.exports = { start: () => start(['redis', 'postgres', 'etcd']) }
