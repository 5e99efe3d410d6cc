// Reads records of a group at one moment; follows server.ts. It must never read the clock before the records: a quiet
// period that is counted from an old time would end too early.
// KEYS: records (hash: name -> text). ARGV: the names. Reply: now, process, history, then the texts.

export default `
local texts = redis.call('HMGET', KEYS[1], unpack(ARGV))
local time = redis.call('TIME')
-- Numbers leave Lua as decimal text: tostring(1.7e12) would lose digits.
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
return { now, process, history, unpack(texts) }
`
