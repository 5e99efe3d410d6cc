// The IDs of a small application, which each bundler builds.

import { FlakeId } from 'flakeforge'
import { redisStore, SegmentId } from 'flakeforge/lease'
import { Redis } from 'ioredis'

/** flakeforge itself finds a client for the address. */
async function byAddress(url) {
  const flake = await FlakeId.join(url, { group: 'orders' })
  const ids = Array.from(flake.takeBigInts(3), String)
  await flake.close()
  return ids
}

/** The application passes its own client. */
async function byClient(url) {
  const client = new Redis(url)
  const flake = await FlakeId.join(redisStore(client), { group: 'orders' })
  const segment = await SegmentId.open(redisStore(client), { name: 'invoices' })
  const ids = [flake.nextString(), flake.nextString(), String(segment.nextBigInt())]
  await segment.close()
  await flake.close()
  await client.quit()
  return ids
}

export const ways = { 'an address': byAddress, 'a client': byClient }
