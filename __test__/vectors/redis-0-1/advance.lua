
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

local COUNTER, by, init, known, fresh = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- Lua's numbers are doubles, exact up to 2^53 only. Two halves of ten digits each stay far below.
local HALF = 10000000000
local MAX_HIGH, MAX_LOW = 1844674407, 3709551615 -- 18446744073709551615 = 2^64 - 1

local function halves(decimal)
  return tonumber(string.sub(decimal, 1, -11)) or 0, tonumber(string.sub(decimal, -10))
end

local function decimal(high, low)
  return high == 0 and text(low) or text(high) .. string.format('%010.0f', low)
end

local function isBelow(aHigh, aLow, bHigh, bLow)
  return aHigh < bHigh or (aHigh == bHigh and aLow < bLow)
end

local stored = redis.call('HMGET', COUNTER, 'value', 'incarnation', 'lineage', 'settled')
local value, lineage, isSettled = stored[1], stored[3] or fresh, stored[4] == '1'
local isSkip = by == '0' and init ~= ''
if not value and init == '' then return { 'gone' } end
if value and not isSkip then
  if not isOfThisServer(stored[2]) then return { 'behind' } end
  if known ~= '' and known ~= lineage and not isSettled then return { 'gone' } end
end

local high, low = halves(value or init)
if isSkip then
  local toHigh, toLow = halves(init)
  if isBelow(high, low, toHigh, toLow) then high, low = toHigh, toLow end
end
local byHigh, byLow = halves(by)
local nextHigh, nextLow = high + byHigh, low + byLow
if nextLow >= HALF then nextHigh, nextLow = nextHigh + 1, nextLow - HALF end
if isBelow(MAX_HIGH, MAX_LOW, nextHigh, nextLow) then return { 'full', decimal(high, low) } end
redis.call('HSET', COUNTER, 'value', decimal(nextHigh, nextLow), 'incarnation', incarnation)
redis.call('HSET', COUNTER, 'lineage', lineage, 'settled', (isSkip or isSettled) and '1' or '0')
return { 'value', decimal(high, low), lineage }
