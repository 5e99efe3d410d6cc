'use strict'

// The group record, and what every step checks there first; follows clock.js. It must never lower quietUntil or floor,
// and a refused step must never have changed a slot.
//
// KEYS: group (hash: the record), slots (hash: slot -> record), ends (sorted set: slot by hi),
//       hosts (sorted set by text: host, hi, slot), owners (sorted set by text: owner, slot)
// ARGV: fingerprint, slots, ttlMs, skewMs, then what the step needs
//
// No key ever expires: otherwise it would be forgotten how far the slots were granted.

module.exports = /* lua */ `
local GROUP, SLOTS, ENDS, HOSTS, OWNERS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local CONFIG = { 'fingerprint', 'slots', 'ttlMs', 'skewMs' }
local LONGEST_TTL_MS = 60000

local group -- the record, or nil where there is none

local function readGroup()
  local fields = redis.call('HGETALL', GROUP)
  if #fields == 0 then return end
  group = {}
  for i = 1, #fields, 2 do group[fields[i]] = fields[i + 1] end
  for _, name in ipairs({ 'quietUntil', 'floor', 'records' }) do group[name] = tonumber(group[name]) end
end

local function highestEnd()
  local last = redis.call('ZREVRANGE', ENDS, 0, 0, 'WITHSCORES')
  return tonumber(last[2]) or -1
end

local function setGroup(name, value)
  group[name] = value
  redis.call('HSET', GROUP, name, type(value) == 'number' and text(value) or value)
end

-- Forgets every slot; all that was granted stays below the floor.
local function dropSlots()
  local floor = math.max(group.floor, highestEnd())
  redis.call('DEL', SLOTS, ENDS, HOSTS, OWNERS)
  setGroup('floor', floor)
  setGroup('records', 0)
end

-- How long forgotten grants may still run: nothing is known about their ttl.
local function unknownGrantsEnd()
  return now + LONGEST_TTL_MS + tonumber(ARGV[4]) + 1
end

-- A new record; if only the record was evicted, the old slots are removed with it.
local function makeGroup(quietUntil, floor)
  group = { floor = floor }
  for i, name in ipairs(CONFIG) do setGroup(name, ARGV[i]) end
  setGroup('incarnation', incarnation)
  setGroup('quietUntil', quietUntil)
  setGroup('destroyed', '0')
  dropSlots()
end

local function isDestroyed()
  return group ~= nil and group.destroyed == '1'
end

-- Eviction, or a person, may remove whole keys or single entries: each grant adds one entry to each of these.
local function isWhole()
  return redis.call('HLEN', SLOTS) == group.records
    and redis.call('ZCARD', ENDS) == group.records
    and redis.call('ZCARD', HOSTS) == group.records
end

-- If the store may have lost writes that it acknowledged, the group is quiet: the records may be old, so all that was
-- granted in between must end first. It uses the recorded ttl, because a new member's may be shorter than the windows
-- that are still running.
local function see()
  local whole = isWhole()
  if whole and isOfThisServer(group.incarnation) then return end
  local quietUntil = now + tonumber(group.ttlMs) + tonumber(group.skewMs) + 1
  setGroup('quietUntil', math.max(group.quietUntil, quietUntil))
  setGroup('incarnation', incarnation)
  if not whole then dropSlots() end
end

-- Checks that both sides have the same options, and that no loss goes unnoticed. Returns the refusal, or nil.
local function verify()
  for i, name in ipairs(CONFIG) do
    if group[name] ~= ARGV[i] then
      return { 'mismatch', group.fingerprint, group.slots, group.ttlMs, group.skewMs }
    end
  end
  see()
end

-- What acquire and renew check before they look at a slot. An absent group may be a lost one. Returns the refusal, or
-- nil.
local function enter(clientNow)
  if isDestroyed() then return { 'destroyed' } end
  if group == nil then makeGroup(unknownGrantsEnd(), -1) end
  local refusal = verify()
  if refusal then return refusal end
  local skew = tonumber(clientNow) - now
  if math.abs(skew) > tonumber(group.skewMs) then return { 'skew', text(skew), group.skewMs } end
  if now < group.quietUntil then return { 'quiet', text(group.quietUntil), text(now) } end
end

readGroup()
`
