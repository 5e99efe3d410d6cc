'use strict'

// Does something that waits for the disk, while the disk hangs: each sync waits as long as the file DISK_HANGS exists, and
// only this thread removes it. If this thread itself waits for the disk, the process never ends.
//
//   node hung-disk.cjs WHAT FOLDER

const fs = require('node:fs')
const path = require('node:path')
const { Worker, isMainThread, workerData } = require('node:worker_threads')

const FlakeId = require(path.join(__dirname, '..', '..'))
const { createGroup } = FlakeId
const { SegmentId, openStore } = require(path.join(__dirname, '..', '..', 'dist', 'lease.cjs'))

const hangs = process.env.DISK_HANGS
const [what, folder] = process.argv.slice(2)
const address = `file:${folder}`

const turn = () => new Promise((resolve) => setTimeout(resolve, 1))

/** The result of `call`, which waits for the disk, after `meanwhile` was done. */
async function whileDiskHangs(call, meanwhile = turn) {
  fs.writeFileSync(hangs, '')
  let isOver = false
  const called = call().finally(() => {
    isOver = true
  })
  called.catch(() => {})
  while (!fs.existsSync(`${hangs}.waiting`) && !isOver) await turn()
  await meanwhile()
  fs.rmSync(hangs)
  if (isOver) throw new Error('nothing has waited for the disk')
  return called
}

/** In a thread: opens a file. */
function opened(shared) {
  const worker = new Worker(__filename, { workerData: shared })
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
}

const WHAT = {
  join: () => whileDiskHangs(() => FlakeId.join(address)),
  async slot() {
    const store = openStore(address)
    await FlakeId.join(store)
    return whileDiskHangs(() => FlakeId.join(store))
  },
  create: () => whileDiskHangs(() => createGroup(address)),
  async destroy() {
    await FlakeId.join(address)
    return whileDiskHangs(() => openStore(address).destroy('default'))
  },
  async block() {
    const ids = await SegmentId.open(address, { name: 'orders', block: 1 })
    // More than the blocks that were taken before they were needed.
    return whileDiskHangs(() => Promise.all(Array.from({ length: 20 }, () => ids.nextAsync())))
  },
  /** Each call could take a thread from the pool, which then has none left for the file. */
  pool() {
    const store = openStore(address)
    const joins = () => Promise.all(Array.from({ length: 8 }, () => FlakeId.join(store)))
    return whileDiskHangs(joins, () => fs.promises.readFile(__filename))
  },
  /** Other generators open, and the file's node number has no other use meanwhile. */
  thread: () =>
    whileDiskHangs(
      () => opened(path.join(folder, 'ids')),
      () => {
        for (let id = 100; id < 120; id++) new FlakeId({ id }).next()
        try {
          new FlakeId({ id: 7 })
        } catch (error) {
          if (error.code === 'ERR_FLAKE_CONFIG_MISMATCH') return
          throw error
        }
        throw new Error('a node number had two uses')
      },
    ),
}

if (isMainThread) {
  WHAT[what]().then(
    () => process.stdout.write('done', () => process.exit()),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
} else {
  require('node:worker_threads').parentPort.postMessage(new FlakeId({ id: 7, shared: workerData }).next())
}
