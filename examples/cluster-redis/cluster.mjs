// Node's cluster, with the application's own Redis client as the store: each worker has its own slot, and with it its
// own node number. The primary kills a worker midway, starts another, and looks for duplicates.
//
//   node examples/cluster-redis/cluster.mjs [redis://HOST]

import cluster from 'node:cluster'
import { once } from 'node:events'
import { FlakeId } from 'flakeforge'
import { redisStore } from 'flakeforge/lease'
import { Redis } from 'ioredis'

const WORKERS = 4
const BATCHES = 20
const BATCH = 5_000
const URL = process.argv[2] ?? 'redis://localhost'

async function work() {
  // The client and all its settings remain the application's; flakeforge only runs its scripts on it.
  const client = new Redis(URL, {
    reconnectOnError: (error) => error.message.startsWith('READONLY'), // after a failover: find the primary
  })
  const flake = await FlakeId.join(redisStore(client), { group: 'cluster-example' })
  for (let i = 0; i < BATCHES; i++) {
    const ids = await flake.takeAsync(BATCH)
    await new Promise((resolve) => process.send({ node: flake.id, ids: ids.toString('base64') }, resolve))
  }
  process.send({ isDone: true })
  await once(process, 'message') // keep the slot until every worker is done
  await flake.close() // gives the slot back, and leaves the client alone
  client.disconnect()
  process.disconnect()
}

/** Collects a worker's IDs; resolves when it has generated all of them, or has exited. */
function collect(worker, all) {
  return new Promise((resolve) => {
    worker.on('message', ({ node, ids, isDone }) => {
      if (isDone) return resolve(worker)
      all.nodes.add(node)
      const bytes = Buffer.from(ids, 'base64')
      for (let i = 0; i < bytes.length; i += 8) all.ids.add(bytes.readBigUInt64BE(i))
      all.count += bytes.length / 8
    })
    worker.once('exit', () => resolve(worker))
  })
}

async function supervise() {
  const all = { ids: new Set(), nodes: new Set(), count: 0 }
  const workers = Array.from({ length: WORKERS }, () => cluster.fork())
  const [victim] = workers
  victim.once('message', () => victim.process.kill('SIGKILL'))
  const replacement = once(victim, 'exit').then(() => collect(cluster.fork(), all))
  const ended = await Promise.all([...workers.map((worker) => collect(worker, all)), replacement])
  console.log(`${all.nodes.size} node numbers`)
  console.log(`${all.count} IDs, ${all.count - all.ids.size} duplicates`)
  process.exitCode = all.count === all.ids.size ? 0 : 1
  for (const worker of ended) if (worker.isConnected()) worker.send('done')
}

await (cluster.isPrimary ? supervise() : work())
