// Slots, windows and counters on Redis or Valkey, over the user's own client or ours. The core has the rules, database.ts
// carries them out, redis/records.ts reads and swaps, and redis/client.ts handles clients.

import { refuseMore } from '../base/check.ts'
import { DatabaseStore } from './database.ts'
import { redisClient } from './redis/client.ts'
import { RedisRecords } from './redis/records.ts'
import { openClient } from './redis/url.ts'
import type { Store } from './store.ts'

/**
 * Slots and counters on Redis 6 or newer, or Valkey.
 * @param client a connected client of ioredis, iovalkey, redis (node-redis) or @valkey/valkey-glide: a single server,
 * Sentinel, a cluster or a pool
 * @throws {TypeError} `ERR_FLAKE_OPTION`: the argument is not such a client, or the client is in a MULTI.
 */
export function redisStore(client: unknown, ...more: never[]): Store {
  refuseMore('redisStore', more, 'only a client', 'Give the client its options.')
  return new DatabaseStore(new RedisRecords(redisClient(client)))
}

/** A store with our own client, which `close()` ends. */
export const openRedis = (url: string): DatabaseStore => new DatabaseStore(new RedisRecords(openClient(url)), url)
