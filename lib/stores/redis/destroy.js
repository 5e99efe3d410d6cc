'use strict'

// Ends the group and leaves a tombstone, which tells a new group of this name where to start. It must never leave
// nothing behind: an absent group cannot say how far its slots were granted, or that it is quiet after a loss.
// ARGV: as in group.js, but not this group's own options, because anybody may clean up. Only skewMs is used, if there
// is no group.

module.exports = /* lua */ `
if isDestroyed() then return { 'done' } end
if group == nil then
  makeGroup(0, unknownGrantsEnd() - 1)
else
  see()
end
dropSlots()
setGroup('floor', math.max(group.floor, now))
setGroup('destroyed', '1')
return { 'done' }
`
