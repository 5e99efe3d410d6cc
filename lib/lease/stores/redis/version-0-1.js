'use strict'
// @ts-check

// What version 0.1 left under a name, and how its group ends; follows server.js. It must never touch a counter of 0.1,
// or a group that has ended.
//
// KEYS of look: group (hash), counter (hash)
// KEYS of end: group, slots (hash), ends (sorted set of slots by the end of their windows), hosts, owners

const IS_LIVE = /* lua */ `
local isLive = redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HGET', KEYS[1], 'destroyed') ~= '1'
`

const look = /* lua */ `${IS_LIVE}
return { isLive and 'live' or 'none', redis.call('HGET', KEYS[2], 'value') }
`

// A group that 0.1 makes under this name later begins above the floor: no window ends after it. The index of ends may
// have been evicted, so the longest window that could have been granted up to now counts too.
const end = /* lua */ `${IS_LIVE}
if not isLive then return {} end
local recorded = redis.call('HMGET', KEYS[1], 'floor', 'ttlMs')
local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2]
local now = redis.call('TIME')[1] * 1000 + 1000
local longest = now + (tonumber(recorded[2]) or 60000)
local floor = math.max(tonumber(recorded[1]) or 0, tonumber(last) or 0, longest)
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
redis.call('HSET', KEYS[1], 'destroyed', '1', 'records', '0', 'floor', string.format('%.0f', floor))
return {}
`

module.exports = { look, end }
