// SegmentId's counters on a real database, by each of its clients.

import { setTimeout as sleep } from 'node:timers/promises'
import { newOwner } from '../support/records.mjs'
import { callsOn, freshName, openGroup } from './rules.mjs'

const LAST = 2n ** 64n - 1n

/** A counter of a member, and the text of its record. */
const counterOn = ({ kind, server, store }, name) => ({
  name,
  advance: async (by, init, durable) => (await store.advance(name, by, init, durable)).number,
  text: () => kind.get(server, name, 'counter'),
})

const range = (n, block) => Array.from({ length: n }, (_, i) => BigInt(i) * block)
const ascending = (numbers) => numbers.toSorted((a, b) => Number(a - b))

/** Tests of counters, each by each client. */
export function testCounters(kind, { test, member }) {
  const rule = (title, body, run = test) => {
    for (const client of Object.keys(kind.clients)) {
      const another = async (name) => counterOn(await member(client), name)
      run(`${client}: ${title}`, async (t) => body(t, await another(freshName()), another))
    }
  }

  rule('sums are exact, up to the end of 64 bits', async (t, { advance, text }) => {
    const odd = 2n ** 53n + 1n
    t.is(await advance(odd, odd), odd)
    t.is(await advance(1n), 2n * odd)
    t.is(await advance(LAST - 2n * odd - 2n), 2n * odd + 1n)
    const before = await text()
    await t.throwsAsync(advance(2n), { code: 'ERR_FLAKE_STORE', message: /18446744073709551614.*2\^64 - 1/ })
    t.is(await text(), before)
    t.is(await advance(1n), LAST - 1n)
    await t.throwsAsync(advance(1n), { code: 'ERR_FLAKE_STORE', message: /18446744073709551615/ })
  })

  // Of all members that want the next block, one gets it. On a slow disk, a larger crowd, one that shares the server
  // with other tests, or one in which the holder of a block wants the next one at once may not succeed within the time
  // of a step.

  const crowd = (title, body) => rule(title, body, test.serial)

  crowd('100 blocks that 4 members take at once are dense, and none is given twice', async (t, counter, another) => {
    await counter.advance(1000n, 0n)
    const taken = [0n]
    const takeAll = async (member) => {
      for (let n = 0; n < 25; n++) {
        const asked = performance.now()
        taken.push(await member.advance(1000n, 0n))
        await sleep(Math.random() * 2 * (performance.now() - asked)) // uses it for as long as the store took
      }
    }
    const members = await Promise.all(Array.from({ length: 4 }, () => another(counter.name)))
    await Promise.all(members.map(takeAll))
    t.deepEqual(ascending(taken), range(101, 1000n))
  })

  crowd('blocks that one member takes at once are dense, and no sign of a loss', async (t, { advance }) => {
    await advance(1n, 0n)
    const taken = await Promise.all(Array.from({ length: 10 }, () => advance(1n, 0n)))
    t.deepEqual(ascending([0n, ...taken]), range(11, 1n))
  })

  rule('members of a counter agree on whether the store can be trusted', async (t, { name, advance, text }) => {
    await advance(10n, 0n)
    const before = await text()
    const error = await t.throwsAsync(advance(10n, 0n, true), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
    t.like(error, { theirs: 'durable false', ours: 'durable true' })
    t.true(error.message.includes(`'${name}'`))
    t.is(await text(), before)
  })

  for (const client of Object.keys(kind.clients)) {
    test(`${client}: a group and a counter with the same name are separate`, async (t) => {
      const own = await member(client)
      const { group, acquire, renew, destroy, list } = await openGroup(own)
      const { advance } = counterOn(own, group)
      const owner = newOwner()
      const { slot } = await acquire({ owner })
      t.is(await advance(10n, 7n), 7n)
      t.is((await list()).length, 1)
      t.is((await renew(slot, owner)).slot, slot)
      await destroy()
      t.is(await advance(10n, 0n), 17n)
      await callsOn(own, group)
        .acquire({ joins: true })
        .catch(() => {})
      t.is(await advance(10n, 0n), 27n)
    })
  }
}
