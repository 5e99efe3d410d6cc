'use strict'

// Whether a group is there, for people to look at; comes alone. KEYS: as in group.js.
// It must never write: looking at a group is no use of it.

module.exports = /* lua */ `
return { redis.call('HGET', KEYS[1], 'destroyed') == '0' and 'there' or 'absent' }
`
