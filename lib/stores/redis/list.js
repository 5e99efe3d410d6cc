'use strict'

// Every slot record of a group, for people to look at; comes alone. KEYS: as in group.js.
// It must never write: looking at a group is no use of it.

module.exports = /* lua */ `
return redis.call('HGETALL', KEYS[2])
`
