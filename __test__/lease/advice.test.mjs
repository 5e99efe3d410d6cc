// Errors and warnings that tell what to do: each is followed to the letter beside members that are making IDs, on a folder
// and on Redis. No command in it fails, what it promises works, and no ID comes twice.

import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter } from '../servers/server.mjs'
import { run } from '../support/command.mjs'
import { FlakeId, lease, numberOf } from '../support/index.mjs'
import { joinAs } from '../support/lease.mjs'
import { diskFolder, Puppet } from '../support/processes.mjs'

const { createGroup } = FlakeId
const { SegmentId, openStore } = lease

/** A server that keeps what it acknowledges, so that a destroyed group can soon be followed by another. */
let redis
let databases = 0
anyTest.after.always(async () => (await redis)?.stop())

const STORES = {
  'a folder': { isThere: true, url: (t) => `file:${diskFolder(t)}` },
  Redis: {
    isThere: wantRedis() !== undefined,
    async url() {
      redis ??= startRedis('--appendonly', 'yes', '--appendfsync', 'always')
      return `${(await redis).url}/${databases++}`
    },
  },
}

const TIMES = { ttlMs: 2000, skewMs: 700, durable: true }
const GROUP = { group: 'orders', slots: 2, ...TIMES }

/** The commands in a text, in their order: what is between backquotes and begins with `npx flakeforge`. */
const commandsIn = (text) => [...text.matchAll(/`npx flakeforge ([^`]+)`/g)].map(([, words]) => words.split(' '))

/** Runs the commands of a text, of which it has that many. */
async function follow(t, text, count) {
  const commands = commandsIn(text)
  t.is(commands.length, count, text)
  for (const command of commands) {
    const { code, stderr } = await run(command)
    t.is(code, 0, `${command.join(' ')}: ${stderr}`)
  }
}

const refused = async (t, call, code) => (await t.throwsAsync(async () => call(), { code })).message

/** Each row makes members read an advice, follows it, and returns the options of a new member; undefined for none. */
const ADVICE = {
  'other options than the group has': async ({ t, url }) => {
    const options = { ...GROUP, slots: 4, epoch: Date.UTC(2024, 0) }
    const error = await refused(t, () => FlakeId.join(url, options), 'ERR_FLAKE_CONFIG_MISMATCH')
    const slots = url.startsWith('file:') ? ['2 slots', '4 slots'] : ['slots 2', 'slots 4']
    const difference = `Group 'orders' has epoch 0, ${slots[0]}; this process uses epoch 1704067200000, ${slots[1]}.`
    t.true(error.startsWith(difference), error)
    t.true(error.endsWith('IDs of another layout or epoch may equal earlier ones: keep them in another table.'), error)
    await follow(t, error, 2)
    return options
  },
  'other options than the group has, given to createGroup()': async ({ t, url }) => {
    const options = { ...GROUP, slots: 4 }
    const error = await refused(t, () => createGroup(url, options), 'ERR_FLAKE_CONFIG_MISMATCH')
    t.false(error.includes('another table'), 'these continue above those before')
    await follow(t, error, 2)
    return options
  },
  'other options than the group has, given to the command': async ({ t, url }) => {
    const flags = ['--slots', '4', '--ttl', '2000', '--skew', '700', '--durable']
    const { code, stderr } = await run(['create', url, 'orders', ...flags])
    t.is(code, 1)
    await follow(t, stderr, 2)
    return { ...GROUP, slots: 4 }
  },
  'no free slot': async ({ t, url }) => {
    const error = await refused(t, () => FlakeId.join(url, { ...GROUP, waitMs: 0 }), 'ERR_FLAKE_EXHAUSTED')
    t.regex(error, /destroy this group and create it again/)
    const store = openStore(url)
    await store.destroy('orders')
    await store.close?.()
    const options = { ...GROUP, slots: 4 }
    await createGroup(url, options)
    return options
  },
  'a group that was destroyed': async ({ t, members }) => {
    await members[0].call('destroy')
    const error = await refused(t, () => members[0].call('next'), 'ERR_FLAKE_DESTROYED')
    t.regex(error, /Call join\(\) to create a new group of this name/)
    return GROUP
  },
  'a generator that was closed': async ({ t, members }) => {
    await members[0].call('close')
    t.regex(await refused(t, () => members[0].call('next'), 'ERR_FLAKE_DETACHED'), /Call join\(\) for a new one/)
    return GROUP
  },
  'a generator that is detached': async ({ t, members }) => {
    await members[0].call('detach')
    t.regex(await refused(t, () => members[0].call('next'), 'ERR_FLAKE_DETACHED'), /Call attach\(\)/)
    await members[0].call('attach')
    return undefined
  },
  'a node number that a lease of this process has': async ({ t, url, members, made }) => {
    await members[0].call('close')
    const flake = await joinAs(t, url, { ...GROUP, waitMs: 10_000 })
    flake.next()
    const taken = () => new FlakeId({ id: flake.id }).next()
    t.regex(await refused(t, taken, 'ERR_FLAKE_CONFIG_MISMATCH'), /use a node number that no slot of the group has/)
    made.push(...flake.takeBigInts(1000), ...new FlakeId({ id: GROUP.slots }).takeBigInts(1000))
    return undefined
  },
}

for (const [kind, { isThere, url: makeUrl }] of Object.entries(STORES)) {
  const test = isThere ? anyTest : anyTest.skip

  for (const [what, obey] of Object.entries(ADVICE)) {
    test.serial(`${kind}: ${what}`, async (t) => {
      const url = await makeUrl(t)
      await createGroup(url, GROUP)
      const made = []
      const members = [new Puppet(t), new Puppet(t)]
      for (const member of members) await member.call('join', url, GROUP)
      let isOver = false
      /** Makes IDs all the time, and bears that it may not. */
      const work = async (member) => {
        while (!isOver) {
          made.push(...(await member.take(2000).catch(() => [])))
          await sleep(20)
        }
      }
      const working = members.map(work)
      await sleep(100)
      const options = await obey({ t, url, members, made })
      if (options !== undefined) {
        const added = new Puppet(t)
        await added.call('join', url, { ...options, waitMs: 20_000 })
        const before = made.length
        working.push(work(added))
        while (made.length < before + 2000) await sleep(20)
      }
      await sleep(300)
      isOver = true
      await Promise.all(working)
      for (const member of members) await member.kill()
      t.true(made.length > 2000)
      // IDs of another epoch need a table of their own, as the error says.
      if (options?.epoch === undefined) t.is(made.length, new Set(made).size, 'no ID comes twice')
    })
  }
}

anyTest('a folder whose slots were all removed: the command in the error ends the group', async (t) => {
  const folder = diskFolder(t)
  const url = `file:${folder}`
  const members = [new Puppet(t), new Puppet(t)]
  const made = []
  for (const member of members) {
    await member.call('join', url, GROUP)
    made.push(...(await member.take(1000)))
  }
  for (const member of members) await member.kill()
  for (const slot of ['0', '1']) fs.rmSync(path.join(folder, 'orders', '1', slot))
  const error = await refused(t, () => FlakeId.join(url, { ...GROUP, waitMs: 0 }), 'ERR_FLAKE_FILE')
  t.regex(error, /`npx flakeforge destroy` ends this group/)
  t.is((await run(['destroy', url, 'orders', '--yes'])).code, 0)
  const flake = await joinAs(t, url, { ...GROUP, waitMs: 20_000 })
  made.push(...flake.takeBigInts(1000))
  t.is(new Set(made).size, made.length)
})

const test = wantRedis() === undefined ? anyTest.skip : anyTest

test('a counter whose blocks the store may have lost: skipTo() as the error says, beside a member that still has some', async (t) => {
  const server = stopAfter(t, await startRedis())
  const open = () => SegmentId.open(server.url, { name: 'invoices', block: 100 })
  const members = [await open(), await open()]
  for (const member of members) t.teardown(() => member.close())
  const made = members.flatMap((member) => [...member.takeBigInts(40)])
  await server.cli('FLUSHALL')
  const late = await open()
  t.teardown(() => late.close())
  const refused = await t.throwsAsync(
    async () => {
      for (;;) {
        for (const member of members) made.push(member.nextBigInt())
        await sleep(1)
      }
    },
    { code: 'ERR_FLAKE_STORE', message: /Call skipTo\(n\) with an n above every ID that was ever handed out\./ },
  )
  t.regex(refused.message, /The store is 'redis:/)
  const highest = [...made].reduce((most, id) => (id > most ? id : most), 0n)
  await members[0].skipTo(highest + 1n)
  await members[1].skipTo(highest + 1n)
  for (const member of members) for (let i = 0; i < 50; i++) made.push(numberOf(await member.nextAsync()))
  t.is(new Set(made).size, made.length)
})

test('a new group that was not created: the command in the warning does no harm while members wait', async (t) => {
  const server = stopAfter(t, await startRedis())
  const warned = []
  const listener = (warning) => warned.push(warning)
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  await t.throwsAsync(FlakeId.join(server.url, { ...GROUP, durable: false, waitMs: 500 }), { code: 'ERR_FLAKE_QUIET' })
  const { message } = warned.find(({ code }) => code === 'FLAKEFORGE_QUIET')
  const [, words] = /npx flakeforge (.+)$/.exec(message)
  const { code, stdout, stderr } = await run(words.split(' '))
  t.is(code, 0, stderr)
  t.regex(stdout, /^Group 'orders' already exists/)
  await t.throwsAsync(FlakeId.join(server.url, { ...GROUP, durable: false, waitMs: 0 }), { code: 'ERR_FLAKE_QUIET' })
})
