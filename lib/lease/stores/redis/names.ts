// The names of all records of a group; follows server.ts. It must never write.
// KEYS: records (hash: name -> text).

export default `
return redis.call('HKEYS', KEYS[1])
`
