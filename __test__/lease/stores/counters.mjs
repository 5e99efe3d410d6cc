// What SegmentId's counters do on a real database, by each of its clients.

import { setTimeout as sleep } from 'node:timers/promises'
import { edited, fieldsOf, newOwner } from '../../support/records.mjs'
import { callsOn, DAMAGES, freshName, openGroup } from './rules.mjs'

const LAST = 2n ** 64n - 1n
const STOPPED = { code: 'ERR_FLAKE_STORE', message: /skipTo/ }

/** Calls on one counter of a member, and what is done to its record by hand. */
function counterOn({ kind, server, store }, name) {
  const get = () => kind.get(server, name, 'counter')
  return {
    name,
    advance: async (by, init, durable) => (await store.advance(name, by, init, durable)).number,
    skipTo: async (place, durable) => (await store.advance(name, 0n, place, durable)).number,
    lineage: async () => (await store.advance(name, 0n)).lineage,
    text: get,
    put: (text) => kind.put(server, name, 'counter', text),
    edit: async (change) => kind.put(server, name, 'counter', edited(await get(), change)),
    forget: () => kind.forget(server, name),
  }
}

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

  rule('a counter begins at init, once', async (t, { name, advance }, another) => {
    t.is(await advance(10n, 5n), 5n)
    t.is(await advance(10n, 5n), 15n)
    t.is(await advance(10n, 100n), 25n)
    t.is(await (await another(name)).advance(10n, 1000n), 35n)
  })

  rule('no member begins a counter by itself', async (t, { text, advance }) => {
    await t.throwsAsync(advance(10n), STOPPED)
    t.is(await text(), null)
  })

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

  rule('skipTo goes forwards only', async (t, { advance, skipTo }) => {
    await advance(10n, 100n)
    t.is(await skipTo(50n), 110n)
    t.is(await skipTo(500n), 500n)
    t.is(await advance(1n), 500n)
    t.is(await skipTo(LAST), LAST)
    await t.throwsAsync(advance(1n), { code: 'ERR_FLAKE_STORE' })
  })

  rule('a counter has a lineage of its own until somebody says where to continue', async (t, counter, another) => {
    await counter.advance(10n, 0n)
    const lineage = await counter.lineage()
    t.regex(lineage, /^[0-9a-f]{16}$/)
    t.is(await (await another(counter.name)).lineage(), lineage)
    await counter.skipTo(500n)
    t.not(await counter.lineage(), lineage)
  })

  rule('skipTo makes a counter that is not there', async (t, { advance, skipTo }) => {
    t.is(await skipTo(7n), 7n)
    t.is(await advance(1n, 0n), 7n)
  })

  // Of all who want the next block, one gets it. On a slow disk, a crowd that is larger, that shares the server with other
  // tests, or in which whoever had a block wants the next one at once, may not get through within the time of a step.

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

  rule(
    'a counter that is gone stops who knew it; skipTo lets all go on',
    async (t, { name, advance, forget }, another) => {
      const other = await another(name)
      await advance(10n, 0n)
      await other.advance(10n, 0n)
      await forget()
      for (const member of [advance, other.advance]) await t.throwsAsync(member(10n, 0n), STOPPED)
      const newcomer = await another(name)
      await t.throwsAsync(newcomer.advance(1000n, 0n), STOPPED, 'it was told')
      t.is(await other.skipTo(5000n), 5000n)
      for (const [i, member] of [advance, other.advance, newcomer.advance].entries()) {
        t.is(await member(10n, 0n), 5000n + 10n * BigInt(i))
      }
    },
  )

  const CHANGES = [
    ['process', false],
    ['history', false],
    ['history', true],
  ]
  for (const [part, durable] of CHANGES.filter(([part]) => kind.identity.includes(part))) {
    const whose = durable ? 'whose members vouch for the store' : 'of which blocks may be lost'
    rule(
      `another ${part} stops a counter ${whose}, until skipTo`,
      async (t, { name, advance, edit, text }, another) => {
        await advance(10n, 0n, durable)
        const before = await text()
        await edit({ [part]: 'another' })
        await t.throwsAsync(advance(10n, 0n, durable), STOPPED)
        t.is(fieldsOf(await text()).lost, 'yes')
        await edit({ [part]: fieldsOf(before)[part] })
        const newcomer = await another(name)
        const stopped = await text()
        for (const member of [advance, newcomer.advance]) await t.throwsAsync(member(10n, 0n, durable), STOPPED)
        t.is(await text(), stopped, 'noted once, and it counts when the identity comes back')
        t.is(await newcomer.skipTo(100n, durable), 100n)
        for (const [i, member] of [advance, newcomer.advance].entries()) {
          t.is(await member(10n, 0n, durable), 100n + 10n * BigInt(i))
        }
      },
    )
  }

  rule('another process does not stop a counter whose members vouch for the store', async (t, { advance, edit }) => {
    await advance(10n, 0n, true)
    await edit({ process: 'another' })
    t.is(await advance(10n, 0n, true), 10n)
  })

  rule('members of a counter agree on whether they vouch for the store', async (t, { name, advance, text }) => {
    await advance(10n, 0n)
    const before = await text()
    const error = await t.throwsAsync(advance(10n, 0n, true), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
    t.like(error, { theirs: 'durable false', ours: 'durable true' })
    t.true(error.message.includes(`'${name}'`))
    t.is(await text(), before)
  })

  rule('a counter whose record cannot be read is refused by name, and stays as it is', async (t, _, another) => {
    for (const [what, damage] of Object.entries(DAMAGES)) {
      const { name, advance, skipTo, text, put } = await another(freshName())
      await advance(10n, 100n)
      const damaged = damage(await text())
      await put(damaged)
      for (const call of [() => advance(10n, 0n), () => skipTo(1000n)]) {
        const message = new RegExp(`^Record 'counter' of '${name}' `)
        await t.throwsAsync(call, { code: 'ERR_FLAKE_RECORD', message }, what)
      }
      t.is(await text(), damaged, what)
    }
  })

  for (const client of Object.keys(kind.clients)) {
    test(`${client}: a group and a counter of one name are two`, async (t) => {
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
