'use strict'

// Slot records, and the three indexes that find a slot without a look at all slots; follows group.js. A record and its
// index entries must never differ, so only this file writes them.

module.exports = /* lua */ `
local NOBODY = '-' -- the owner of a released slot

-- Entries of equal end sort by their text, so numbers in them have one width.
local function padded(number)
  return string.format('%016.0f', number)
end

-- A host may be any text, and one host may begin like another. So we use hashes, which all have the same length.
local function hostEntries(host)
  return redis.sha1hex(host) .. ':'
end

local function hostEntry(slot, record)
  return hostEntries(record.host) .. padded(record.hi) .. ':' .. padded(slot)
end

local function ownerEntry(slot, record)
  return record.owner .. ':' .. padded(slot)
end

-- The slots whose record names this owner, the lowest first. A token is used for one acquisition, but its retry may have
-- come after the first window's end, and then there are two.
local function slotsOfOwner(owner)
  local entries = redis.call('ZRANGEBYLEX', OWNERS, '[' .. owner .. ':', '(' .. owner .. ';') -- ';' comes after ':'
  for i, entry in ipairs(entries) do entries[i] = tonumber(string.match(entry, '%d+$')) end
  return entries
end

local function readSlot(slot)
  local stored = redis.call('HGET', SLOTS, text(slot))
  if not stored then return end
  local owner, lo, hi, host = string.match(stored, '^(%S+) (%d+) (%d+) (.*)$')
  return { owner = owner, lo = tonumber(lo), hi = tonumber(hi), host = host }
end

-- before: the record as it was read; nil if the slot was never used.
local function writeSlot(slot, before, record)
  redis.call('HSET', SLOTS, text(slot), table.concat({ record.owner, text(record.lo), text(record.hi), record.host }, ' '))
  redis.call('ZADD', ENDS, text(record.hi), padded(slot))
  if before then
    redis.call('ZREM', HOSTS, hostEntry(slot, before))
    if before.owner ~= NOBODY then redis.call('ZREM', OWNERS, ownerEntry(slot, before)) end
  else
    redis.call('HINCRBY', GROUP, 'records', 1)
  end
  redis.call('ZADD', HOSTS, 0, hostEntry(slot, record))
  if record.owner ~= NOBODY then redis.call('ZADD', OWNERS, 0, ownerEntry(slot, record)) end
end

local function granted(slot, record)
  return { 'granted', text(slot), text(record.lo), text(record.hi), text(now) }
end
`
