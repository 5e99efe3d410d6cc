// The scripts of the store; each follows server.ts, which takes the first argument, the database. Only SWAP writes. KEYS: the
// records of a group (hash: name -> text).

/** The names of all records of a group. */
export const NAMES = `
return redis.call('HKEYS', KEYS[1])
`

/**
 * Reads records of a group at one moment, and the clock after them: a quiet period that is counted from an old time would end
 * too early. ARGV: the names. Reply: now, process, history, then the texts.
 */
export const READ = `
local texts = redis.call('HMGET', KEYS[1], unpack(ARGV))
local time = redis.call('TIME')
-- Numbers leave Lua as decimal text: tostring(1.7e12) would lose digits.
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
return { now, process, history, unpack(texts) }
`

/**
 * Writes a record if it and the server are unchanged since they were read, without an expiry: a record that expires would be
 * lost. ARGV: process, history, name, the new text, the old text or nothing if absent. Reply: 'swapped' or 'kept', the number
 * of replicas, and whether writes need any (min-replicas-to-write).
 */
export const SWAP = `
local name, to, from = ARGV[3], ARGV[4], ARGV[5] or false
local isSame = ARGV[1] == process and ARGV[2] == history and redis.call('HGET', KEYS[1], name) == from
if isSame then redis.call('HSET', KEYS[1], name, to) end
local need = replication('min_slaves_good_slaves') and 'needed' or 'optional' -- shown only with min-replicas-to-write
return { isSame and 'swapped' or 'kept', replication('connected_slaves') or '0', need }
`

/** The positions of the replicas. Reply: process, history, this server's position, and each replica's as last reported. */
export const OFFSETS = `
local answer = { process, history, replication('master_repl_offset') }
for offset in string.gmatch(lines, 'state=online,offset=(%d+)') do answer[#answer + 1] = offset end
return answer
`
