'use strict'
// @ts-check

// The environment variables that give node numbers.

const PREFIX = 'FLAKEFORGE_'

/** What every layout reads; the last one is for our tests. */
const COMMON = ['FLAKEFORGE_ID', 'FLAKEFORGE_STORE', 'FLAKEFORGE_REQUIRE_SERVERS']

/**
 * The environment variable of a node field, or of `id`.
 * @param {string} name
 */
const variableOf = (name) => PREFIX + name.toUpperCase()

module.exports = { COMMON, PREFIX, variableOf }
