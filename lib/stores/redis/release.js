'use strict'

// Gives the rest of a window back. ARGV[5]: slot, [6]: owner, [7]: the last ms used.
// It must never lower hi below lo - 1, and only ever for the owner.

module.exports = /* lua */ `
if group == nil or isDestroyed() then return { 'done' } end
local refusal = verify()
if refusal then return refusal end

local slot, owner, last = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local before = readSlot(slot)
if before == nil or before.owner ~= owner then return { 'done' } end

-- While writes may be lost, this record may be an old one whose end is now another's: then hi stays.
local hi = before.hi
if now >= group.quietUntil then hi = math.min(hi, math.max(last, before.lo - 1)) end
writeSlot(slot, before, { owner = NOBODY, host = before.host, lo = before.lo, hi = hi })
return { 'done' }
`
