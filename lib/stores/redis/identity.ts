// The beginning of every script: reads the server's identity, and refuses replicas, which may lack acknowledged writes, and
// servers that do not show their identity.

/**
 * `process` and `history` are the identity: a changed one means that acknowledged writes may be missing. A start shows by
 * another run_id. A promotion may be of a server that had the records before and kept its run_id: it shows by master_replid,
 * which is random and new for each promotion. It counts only while master_replid2 is not all zeros, the sign of a promotion:
 * before, master_replid also changes when a first replica connects, and then nothing is lost. (master_replid2 and
 * second_repl_offset alone are not enough: a server that is promoted twice from one primary without a write in between has
 * the same ones.) A server without replicas forgets its promotion after repl-backlog-ttl.
 *
 * The database is selected in the script, where that changes nothing for the connection: a `select()` of a user who shares
 * the client cannot move the records. A user without the right to SELECT, or a server without SELECT, is in database 0.
 *
 * Only INFO has these values: ROLE and CONFIG may not be called by scripts. Its lines are found as plain text: a pattern took
 * about 10 µs for each of the five names instead of 1.
 */
export default `
local database = table.remove(ARGV, 1)
if database ~= '' then
  local answer = redis.pcall('SELECT', database)
  if answer.err and database ~= '0' then
    return redis.error_reply('ERR The server refused database ' .. database .. ', and in another one this member would be alone: ' .. answer.err)
  end
end
local function info(section)
  local lines = redis.call('INFO', section)
  return function(name)
    local _, colon = string.find(lines, '\\n' .. name .. ':', 1, true)
    return colon and string.match(lines, '^%C*', colon + 1)
  end, lines
end

local server, replication, lines = info('server'), info('replication')
local process, history, promotion = server('run_id'), replication('master_replid'), replication('master_replid2')
if not (process and history and promotion) then
  return redis.error_reply('ERR INFO shows no run_id, master_replid or master_replid2, so lost writes would go unnoticed')
end
if replication('role') ~= 'master' then
  return redis.error_reply('READONLY This server is a replica, which may lack records. Connect to the primary, by Sentinel or Cluster if it may change')
end
if not string.find(promotion, '[^0]') then history = '' end
`
