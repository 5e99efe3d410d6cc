'use strict'

// Whether a group exists, for people to look at; runs alone. KEYS: as in group.js. It must never write: looking at a
// group must not change it.

module.exports = /* lua */ `
return { redis.call('HGET', KEYS[1], 'destroyed') == '0' and 'there' or 'absent' }
`
