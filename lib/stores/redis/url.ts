// Our own Redis client for an address, by the client package that the user's project has. flakeforge depends on none of them,
// so it is loaded on first use.

import { openWithPackage } from '../client-packages.ts'
import { readAddress } from './address.ts'
import { openIoredis } from './own-ioredis.ts'
import { openNodeRedis } from './own-node-redis.ts'

const OPEN = { ioredis: openIoredis, iovalkey: openIoredis, redis: openNodeRedis }

export function openClient(url: string) {
  const address = readAddress(url)
  return openWithPackage(url.slice(0, url.indexOf(':')).toLowerCase(), OPEN, address)
}
