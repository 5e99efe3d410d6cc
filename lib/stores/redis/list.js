'use strict'

// Every slot record of a group, for people to look at; runs alone. KEYS: as in group.js. It must never write: looking
// at a group must not change it.

module.exports = /* lua */ `
return redis.call('HGETALL', KEYS[2])
`
