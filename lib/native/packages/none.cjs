'use strict'

// What bundlers take in the place of traced.cjs. They leave packages where they are, and search.ts finds those at run time.

module.exports = { loadAddon() {}, loadClient() {} }
