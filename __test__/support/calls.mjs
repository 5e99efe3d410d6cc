// The classes with waiting calls, as rows of the tests in __test__/calls. Each row creates an instance that has no IDs
// until `goOn()`: a generator with a stopped clock, a member whose counter does not answer, a client whose server does
// not.

import { constants } from 'node:buffer'
import { connect, startScripted } from '../remote/scripted-server.mjs'
import { FlakeId, manualClock, SOME_TIME, turn, useUp } from './index.mjs'
import { opened } from './segment.mjs'
import { gate } from './waits.mjs'

const MOST_BYTES = Math.floor(constants.MAX_LENGTH / 8)

/** Answers of a server whose IDs count up from the first. */
function countFrom(first) {
  let next = first
  return (_request, response, n) => {
    const bytes = Buffer.alloc(n * 8)
    for (let i = 0; i < n; i++) bytes.writeBigUInt64BE(next++, i * 8)
    response.setHeader('content-type', 'application/octet-stream').end(bytes)
  }
}

/**
 * `most`: the largest n. `stuck(t)` returns `generator`, `goOn()`, after which there are IDs for a while, and
 * `expected()`, the ID that `generator` then gives first.
 */
export const CLASSES = {
  FlakeId: {
    most: MOST_BYTES,
    stuck: async () => {
      const clock = manualClock()
      const generator = new FlakeId({ clock })
      useUp(generator)
      let ticks = 0n
      const goOn = () => {
        clock.now++
        ticks++
      }
      return { generator, goOn, expected: () => (BigInt(SOME_TIME) + ticks) << 22n }
    },
  },
  SegmentId: {
    most: MOST_BYTES,
    stuck: async (t) => {
      const { promise, open } = gate()
      const { segment, store } = await opened(t, { block: 10 })
      segment.takeBigInts(10)
      store.before = () => promise
      return { generator: segment, goOn: open, expected: () => 10n }
    },
  },
  RemoteFlakeId: {
    most: 10_000_000,
    stuck: async (t) => {
      const answer = countFrom(1000n)
      const server = await startScripted(t, answer)
      const remote = await connect(t, server, { prefetch: 10 })
      const waiting = []
      server.script = (...args) => waiting.push(args)
      remote.take(10)
      const goOn = () => {
        server.script = answer
        for (const args of waiting.splice(0)) answer(...args)
      }
      return { generator: remote, goOn, expected: () => 1010n }
    },
  },
}

/** Calls `goOn()` until a promise is settled, since a tick has few IDs. */
export async function goOnUntil(goOn, promise) {
  let isSettled = false
  const settled = () => {
    isSettled = true
  }
  promise.then(settled, settled)
  while (!isSettled) {
    goOn()
    await turn()
  }
  return promise
}
