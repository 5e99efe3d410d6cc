'use strict'

// Grants a free slot and a window of it. ARGV[5]: owner, [6]: host, [7]: the client's clock.
// It must never grant a slot whose end is not in the past, or a window that touches an earlier one of the slot.

module.exports = /* lua */ `
local owner, host = ARGV[5], ARGV[6]

-- If the same owner asks again, its answer was lost. It gets the same grant, or nobody would use that slot.
local function ownGrant()
  for _, slot in ipairs(slotsOfOwner(owner)) do
    local record = readSlot(slot)
    if record and record.owner == owner and record.hi >= now then return granted(slot, record) end
  end
end

-- Entries of a host sort by end, then slot: the first one below now.
local function freeSlotOfHost()
  local mine = hostEntries(host)
  local entry = redis.call('ZRANGEBYLEX', HOSTS, '[' .. mine, '(' .. mine .. padded(now), 'LIMIT', 0, 1)[1]
  return entry and tonumber(string.match(entry, '%d+$'))
end

local answer = enter(ARGV[7]) or ownGrant()
if answer then return answer end

-- Slots are first used in order, so the number of records is the lowest slot without one.
local hasUnused = group.records < tonumber(group.slots)
local slot = freeSlotOfHost()
local oldest = redis.call('ZRANGE', ENDS, 0, 0, 'WITHSCORES')
local oldestEnd = tonumber(oldest[2])
if slot == nil and hasUnused and group.floor < now then slot = group.records end
if slot == nil and oldestEnd and oldestEnd < now then slot = tonumber(oldest[1]) end
if slot == nil then
  local ends = hasUnused and math.min(group.floor, oldestEnd or group.floor) or oldestEnd
  return { 'exhausted', text(ends + 1), text(now) }
end

local before = readSlot(slot)
local lo = math.max((before and before.hi or group.floor) + 1, now)
local record = { owner = owner, host = host, lo = lo, hi = now + tonumber(group.ttlMs) }
writeSlot(slot, before, record)
return granted(slot, record)
`
