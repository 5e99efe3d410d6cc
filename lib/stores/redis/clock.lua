-- Opens every script that needs the time: the store's clock, and which server this is.
-- It must never use a client's clock: windows are cut by one clock only, the server's.

-- Numbers leave Lua as whole decimal text: tostring(1.7e12) would lose digits, and a reply drops fractions silently.
local function text(number)
  return string.format('%.0f', number)
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- A server has a new run_id after every start, and a promoted replica its own. Either may lack writes that were
-- acknowledged before, since replication and fsync come later than the answer. INFO is the only place that shows it,
-- and takes 1.4 of the 25 µs of a step.
local incarnation = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
