// Every call of flakeforge that waits for time to pass. Each must end without help, whatever a test has done to the
// timers.

const assert = require('node:assert')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

/** Moves a node's IDs so far ahead of the clock that the next one has to wait for a timer. */
const putAhead = (FlakeId, id) => new FlakeId({ id, seqMask: 1, maxAheadMs: Number.POSITIVE_INFINITY }).take(100)

/** More IDs than fit into a few ticks. */
const MANY = 20_000

async function withFolder(work) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-test-runners-'))
  try {
    await work(`file:${folder}`)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

const waits = {
  'next(callback)': async (FlakeId) => {
    const flake = new FlakeId({ id: 1 })
    const ids = new Set()
    await new Promise((resolve, reject) => {
      const callback = (error, id) => {
        if (error) reject(error)
        else if (ids.add(id.toString('hex')).size === MANY) resolve()
      }
      for (let i = 0; i < MANY; i++) flake.next(callback)
    })
  },

  'nextAsync() after a wait of 50 ms': async (FlakeId) => {
    putAhead(FlakeId, 2)
    assert.strictEqual((await new FlakeId({ id: 2 }).nextAsync()).length, 8)
  },

  'takeAsync()': async (FlakeId) => {
    assert.strictEqual((await new FlakeId({ id: 3 }).takeAsync(MANY)).length, MANY * 8)
  },

  'for await': async (FlakeId) => {
    putAhead(FlakeId, 4)
    let count = 0
    for await (const _id of new FlakeId({ id: 4 })) if (++count === MANY) break
  },

  'next() within maxWaitMs': async (FlakeId) => {
    putAhead(FlakeId, 5)
    assert.strictEqual(new FlakeId({ id: 5, maxWaitMs: 1000 }).next().length, 8)
  },

  'join(), detach(), attach() and close()': (FlakeId) =>
    withFolder(async (store) => {
      const flake = await FlakeId.join(store)
      assert.ok(flake.expires > new Date(), 'the window is of the real time')
      assert.strictEqual((await flake.takeAsync(MANY)).length, MANY * 8)
      await flake.detach()
      await flake.attach()
      assert.strictEqual(flake.next().length, 8)
      await flake.close()
    }),

  'join() where no slot is free': (FlakeId) =>
    withFolder(async (store) => {
      const first = await FlakeId.join(store, { slots: 1 })
      await assert.rejects(FlakeId.join(store, { slots: 1, waitMs: 100 }), { code: 'ERR_FLAKE_EXHAUSTED' })
      const second = FlakeId.join(store, { slots: 1 })
      await first.close()
      await (await second).close()
    }),

  SegmentId: () =>
    withFolder(async (store) => {
      const { SegmentId } = require('flakeforge/lease')
      const invoices = await SegmentId.open(store, { name: 'invoices', block: 10 })
      for (let i = 0n; i < 100n; i++) assert.strictEqual((await invoices.nextAsync()).readBigUInt64BE(), i)
      await invoices.close()
    }),
}

module.exports = { waits }
