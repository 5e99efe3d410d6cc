'use strict'

// Adds to a named counter of 0…2^64-1 and returns the value before; follows clock.js. It must never hand out a block
// twice: if writes may be lost, it refuses until somebody says where to continue.
// KEYS: counter (hash). ARGV: by, and init or '' for none, as decimal text; the lineage that the client knows, '' for
// none; and the one that a new counter would get.
//
// A counter gets a new lineage each time it is created. So it shows if the counter that a client knew was lost and
// created again. It is settled once somebody has said where to continue.

module.exports = /* lua */ `
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
`
