
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
