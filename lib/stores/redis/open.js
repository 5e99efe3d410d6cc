'use strict'

// Makes the group if there is none, or else compares its options. ARGV[5]: 'create' for a group that is known to be
// new. It must never change an existing group, and never let anything but 'create' skip the wait for lost grants.

module.exports = /* lua */ `
local isNew = group == nil or isDestroyed()
if group == nil then
  makeGroup(ARGV[5] == 'create' and 0 or unknownGrantsEnd(), -1)
elseif isDestroyed() then
  -- The floor keeps the new group above all that the old one granted. But a tombstone of another incarnation may be
  -- older than a group that was made after it and is lost; 'create' cannot mean that one.
  local quietUntil = isOfThisServer(group.incarnation) and 0 or unknownGrantsEnd()
  makeGroup(math.max(group.quietUntil, quietUntil), group.floor)
end
return verify() or { 'done', isNew and 'made' or 'kept' }
`
