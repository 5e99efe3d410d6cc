// A store that is right, over a real Redis, with ioredis and two scripts: one hash for each group.

import { Redis } from 'ioredis'

/** The identity of the server: `run` for its process, `past` for the history of its data. */
const IDENTITY = `
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  local info = redis.call('INFO', 'replication')
  local past = string.match(info, 'master_replid2:(%x+)') .. ':' .. string.match(info, 'second_repl_offset:(%-?%d+)')
  if not string.find(past, '^0*[^0:]') then past = '' end
`

const READ = `${IDENTITY}
  local values = redis.call('HMGET', KEYS[1], unpack(ARGV))
  local time = redis.call('TIME')
  return { string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), past, run, values }
`

const SWAP = `${IDENTITY}
  local name, from, to = ARGV[1], ARGV[2], ARGV[3]
  if past ~= ARGV[4] or run ~= ARGV[5] then return 0 end
  local value = redis.call('HGET', KEYS[1], name)
  if value ~= (string.sub(from, 1, 1) == '=' and string.sub(from, 2)) then return 0 end
  redis.call('HSET', KEYS[1], name, to)
  return 1
`

const key = (group) => `records:{${group}}`

export const openRedis = (url) => async () => {
  const client = new Redis(url)
  return {
    async read(group, names) {
      const [now, history, process, values] = await client.eval(READ, 1, key(group), ...names)
      return { now: Number(now), identity: { history, process }, values }
    },
    async swap(group, name, from, to, { history, process }) {
      const swapped = await client.eval(
        SWAP,
        1,
        key(group),
        name,
        from === null ? '' : `=${from}`,
        to,
        history,
        process,
      )
      return swapped === 1
    },
    names: (group) => client.hkeys(key(group)),
    close: () => client.quit(),
  }
}

export async function wipeRedis(url) {
  const client = new Redis(url)
  await client.flushall()
  await client.quit()
}
