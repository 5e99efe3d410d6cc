// Writes a record if it and the server are still the ones that were read; follows server.ts. It must never write for
// any other reason, and never set an expiry: a record that expires would be forgotten.
// KEYS: records (hash: name -> text). ARGV: process, history, name, the new text, the old text or nothing if absent.

export default `
local name, to, from = ARGV[3], ARGV[4], ARGV[5] or false
local isSame = ARGV[1] == process and ARGV[2] == history and redis.call('HGET', KEYS[1], name) == from
if isSame then redis.call('HSET', KEYS[1], name, to) end
return { isSame and 'swapped' or 'kept' }
`
