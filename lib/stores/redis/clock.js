'use strict'

// Opens every script that needs the time: the store's clock, and which server this is.
// It must never use a client's clock: only the server's clock decides about windows.

module.exports = /* lua */ `
-- Numbers leave Lua as decimal text without a fraction: tostring(1.7e12) would lose digits, and a reply silently drops
-- fractions.
local function text(number)
  return string.format('%.0f', number)
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- The value of this name in INFO, or nil.
local function info(section, name)
  return string.match(redis.call('INFO', section), name .. ':(%x+)')
end

-- A server may lack writes that were acknowledged before it started or was promoted, since replication and fsync come
-- later than the answer. A start shows by another run_id. A promotion may be of a server that held the record before
-- and kept its run_id: it shows by master_replid2, the history that it continues, which no other promotion has; zeros
-- mean none. Only INFO has these, and it takes 2 of the 25 µs of a step. (master_replid also changes when a first
-- replica connects, but nothing is lost then.)
local runId, promotion = info('server', 'run_id'), info('replication', 'master_replid2') or ''
if not runId then return redis.error_reply('ERR INFO shows no run_id, so lost writes would not be noticed') end
if not string.find(promotion, '[^0]') then promotion = '' end
local incarnation = runId .. promotion

-- Whether a record is from this server in its present state. A server without replicas forgets its promotion after
-- repl-backlog-ttl, but loses nothing by that: so a record that still names the promotion is good.
local function isOfThisServer(recorded)
  if not recorded then return false end
  return recorded == incarnation or (promotion == '' and string.sub(recorded, 1, #runId) == runId)
end
`
