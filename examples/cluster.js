'use strict'

// Node's cluster: each worker joins the group and gets its own slot, and with it its own node number. No configuration is
// needed. The primary collects all IDs and looks for duplicates.
//
//   node examples/cluster.js [STORE]
// STORE is `file:DIR`, `redis://HOST`, `postgres://HOST/DB` or `etcd://HOST`. Without it, join() uses the environment
// variable FLAKEFORGE_STORE, or else a folder in your home. A container has no default folder: name a store there.

const cluster = require('node:cluster')
const { once } = require('node:events')
const FlakeId = require('..')

const WORKERS = 4
const IDS = 100_000

async function work() {
  const flake = await FlakeId.join(process.argv[2])
  const ids = await flake.takeAsync(IDS)
  process.send({ node: flake.id, ids: ids.toString('base64') })
  await once(process, 'message') // keep the slot until every worker is done
  await flake.close()
  process.disconnect()
}

async function supervise() {
  const workers = Array.from({ length: WORKERS }, () => cluster.fork())
  cluster.on('exit', (_worker, code) => {
    if (code !== 0) process.exit(1)
  })
  const all = new Set()
  for (const [{ node, ids, problem }] of await Promise.all(workers.map((worker) => once(worker, 'message')))) {
    if (problem !== undefined) return fail(problem)
    const bytes = Buffer.from(ids, 'base64')
    for (let i = 0; i < bytes.length; i += 8) all.add(bytes.readBigUInt64BE(i))
    console.log(`node number ${node}: ${bytes.length / 8} IDs`)
  }
  console.log(`${WORKERS * IDS} IDs, ${WORKERS * IDS - all.size} duplicates`)
  process.exitCode = all.size === WORKERS * IDS ? 0 : 1
  for (const worker of workers) worker.send('done')
}

/** All workers use the same store, so they all have the same problem with it. */
function fail(problem) {
  console.error(problem)
  process.exit(1)
}

if (cluster.isPrimary) supervise()
else work().catch(({ message }) => process.send({ problem: message }))
