'use strict'

// Moves the end of its owner's window. ARGV[5]: slot, [6]: owner, [7]: the client's clock.
// It must never lower hi, and never raise it during the quiet period: another's grant may have been lost.

module.exports = /* lua */ `
local refusal = enter(ARGV[7])
if refusal then return refusal end

local slot, owner = tonumber(ARGV[5]), ARGV[6]
local before = readSlot(slot)
if before == nil or before.owner ~= owner then return { 'lost' } end

-- A window that has ended cannot be extended, because a later grant may be lost: its owner gets a new one.
local lo = before.hi < now and math.max(before.hi + 1, now) or before.lo
local hi = math.max(before.hi, now + tonumber(group.ttlMs))
local record = { owner = owner, host = before.host, lo = lo, hi = hi }
writeSlot(slot, before, record)
return granted(slot, record)
`
