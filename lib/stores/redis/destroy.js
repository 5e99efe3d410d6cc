'use strict'

// Ends the group and leaves a tombstone, from which a new group of the name learns where to start.
// It must never leave nothing: an absent group cannot say how far its slots were granted, nor that it waits for a loss.
// ARGV: as in group.js, but they are not this group's: anybody may clear up, and only skewMs is used, where none is.

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
