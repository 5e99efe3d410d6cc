'use strict'

// Five servers of four kinds, as one store. Two of them fail at the same time.

const { start } = require('./majority.js')

module.exports = { start: () => start(['redis', 'postgres', 'etcd', 'mysql', 'redis']) }
