'use strict'
// @ts-check

// The names of all records of a group; follows server.js. It must never write.
// KEYS: records (hash: name -> text).

module.exports = /* lua */ `
return redis.call('HKEYS', KEYS[1])
`
