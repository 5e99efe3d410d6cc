// Errors and warnings that tell what to do: each is followed to the letter beside members that are making IDs, on a folder
// and on Redis. No command in it fails, what it promises works, and no ID comes twice. The last test finds the texts that
// no test here follows.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import anyTest from 'ava'
import { sqlOf } from '../../lab/database-function/databases.mjs'
import { startServer } from '../servers/flakeforge.mjs'
import { startPostgres, wantPostgres } from '../servers/postgres.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter, until } from '../servers/server.mjs'
import { run } from '../support/command.mjs'
import { FlakeId, lease, numberOf } from '../support/index.mjs'
import { joinAs } from '../support/lease.mjs'
import { diskFolder, hasClock, Puppet, withoutClock } from '../support/processes.mjs'

const { Clock } = createRequire(import.meta.url)('../../lab/chaos/faults/clock.js')
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

const highestOf = (ids) => ids.reduce((most, id) => (id > most ? id : most), 0n)

/** The hash with the records of a group or counter, and their server. */
const recordsOf = (name) => `flakeforge:{${name}}:records`

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
  'a server of elseFrom that has another store': async ({ t, url, members, made }) => {
    await members[0].call('close')
    const { group, ...options } = GROUP
    const config = path.join(diskFolder(t), 'server.json')
    fs.writeFileSync(config, JSON.stringify({ names: { [group]: options } }))
    const other = stopAfter(t, await startServer({ args: ['--config', config] }))
    const own = stopAfter(t, await startServer({ args: ['--config', config, '--store', url] })) // has the other slot
    const from = (server) => ({ ...GROUP, waitMs: 0, elseFrom: server.url })
    const error = await refused(t, () => FlakeId.join(url, from(other)), 'ERR_FLAKE_CONFIG_MISMATCH')
    t.regex(error, /must serve one group under this name, on one store and with one layout/)
    const flake = await joinAs(t, url, from(own))
    for (let i = 0; i < 500; i++) made.push(numberOf(await flake.nextAsync()))
    t.is(flake.stats.fromServers, 500)
    await flake.close()
    return undefined
  },
}

/** The same for advice that only a server's store gives. */
const ADVICE_OF_SERVERS = {
  'a clock that is too far from that of the store': async ({ t, url, members, made }) => {
    if (!hasClock) {
      withoutClock(t)
      return undefined
    }
    await members[0].call('close')
    const clock = new Clock(5000)
    const late = new Puppet(t, { env: clock.environment })
    const error = await refused(t, () => late.call('join', url, { ...GROUP, waitMs: 0 }), 'ERR_FLAKE_CLOCK_SKEW')
    t.regex(error, /Set the clocks/)
    clock.set(0)
    await late.call('join', url, { ...GROUP, waitMs: 20_000 })
    made.push(...(await late.take(1000)))
    return undefined
  },
  'a record of the group that is damaged': async ({ t, url, members }) => {
    const server = await redis
    const database = new URL(url).pathname.slice(1)
    await server.cli('-n', database, 'HSET', recordsOf('orders'), 'group', 'hello')
    const error = await refused(t, () => FlakeId.join(url, GROUP), 'ERR_FLAKE_RECORD')
    t.true(
      error.endsWith(
        'Stop all members, wait until their windows have ended (ttlMs + skewMs), delete all records of the group, and join again.',
      ),
      error,
    )
    for (const member of members) await member.kill()
    await sleep(TIMES.ttlMs + TIMES.skewMs)
    t.is(await server.cli('-n', database, 'DEL', recordsOf('orders')), '1')
    return GROUP
  },
}

for (const [kind, { isThere, url: makeUrl }] of Object.entries(STORES)) {
  const test = isThere ? anyTest : anyTest.skip

  for (const [what, obey] of Object.entries(kind === 'Redis' ? { ...ADVICE, ...ADVICE_OF_SERVERS } : ADVICE)) {
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
        await until(() => made.length >= before + 2000)
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

/** Changes a byte that a checksum covers. The file may be in use. */
function damageHeader(name) {
  const file = fs.openSync(name, 'r+')
  fs.writeSync(file, Buffer.of(0xff), 0, 1, 100)
  fs.closeSync(file)
}

anyTest('damaged files of a folder: removed as the errors say', async (t) => {
  const folder = diskFolder(t)
  const url = `file:${folder}`
  const made = []
  const fileOf = (name) => path.join(folder, 'orders', '1', name)
  const start = async () => {
    const members = [new Puppet(t), new Puppet(t)]
    for (const member of members) {
      await member.call('join', url, { ...GROUP, waitMs: 20_000 })
      made.push(...(await member.take(1000)))
    }
    return members
  }
  const stop = (members) => Promise.all(members.map((member) => member.kill()))
  const removal = async () => {
    const error = await t.throwsAsync(FlakeId.join(url, { ...GROUP, waitMs: 0 }), { code: 'ERR_FLAKE_FILE' })
    t.regex(error.message, /Remove it once no process uses it and the clock is past its last ID/)
    return () => fs.rmSync(error.path)
  }

  const first = await start()
  damageHeader(fileOf('group'))
  const remove = await removal()
  for (const member of first) made.push(...(await member.take(1000).catch(() => [])))
  await stop(first)
  remove()

  await stop(await start())
  for (const slot of ['0', '1']) damageHeader(fileOf(slot))
  for (let i = 0; i < 2; i++) (await removal())()
  const error = await refused(t, () => FlakeId.join(url, { ...GROUP, waitMs: 0 }), 'ERR_FLAKE_FILE')
  t.regex(error, /`npx flakeforge destroy` ends this group/)
  t.is((await run(['destroy', url, 'orders', '--yes'])).code, 0)
  await start()
  t.is(new Set(made).size, made.length)
})

/** As a later release would write the file, or one of another processor: the version of its format. */
function changeVersion(name) {
  const file = fs.openSync(name, 'r+')
  fs.writeSync(file, Buffer.of(2, 0, 0, 0), 0, 4, 16)
  fs.closeSync(file)
}

anyTest('a group whose file another version wrote: a folder with other node numbers, as the error says', async (t) => {
  const folder = diskFolder(t)
  const made = []
  const members = [new Puppet(t), new Puppet(t)]
  for (const member of members) {
    await member.call('join', `file:${folder}`, GROUP)
    made.push(...(await member.take(1000)))
  }
  changeVersion(path.join(folder, 'orders', '1', 'group'))
  const error = await refused(t, () => FlakeId.join(`file:${folder}`, { ...GROUP, waitMs: 0 }), 'ERR_FLAKE_FILE')
  t.true(
    error.endsWith(
      'use another folder, and other node numbers there: another nodeOffset, or another value of a node field',
    ),
  )
  for (const more of [{ nodeOffset: GROUP.slots }, { datacenter: 1 }]) {
    const added = new Puppet(t)
    await added.call('join', `file:${diskFolder(t)}`, { ...GROUP, ...more })
    made.push(...(await added.take(1000)))
    for (const member of members) made.push(...(await member.take(1000).catch(() => [])))
  }
  t.is(new Set(made).size, made.length)
})

anyTest('a counter whose file another version wrote: opened in another folder, as the error says', async (t) => {
  const folder = diskFolder(t)
  const open = (place, init) => SegmentId.open(`file:${place}`, { name: 'invoices', block: 100, init })
  const members = [await open(folder), await open(folder)]
  const made = members.flatMap((member) => [...member.takeBigInts(40)])
  const counters = path.join(folder, '.counters')
  changeVersion(path.join(counters, fs.readdirSync(counters)[0]))
  const error = await refused(t, () => open(folder), 'ERR_FLAKE_FILE')
  t.regex(
    error,
    /or stop all members, and open the counter in another folder with an init at or above every ID that was ever handed out$/,
  )
  made.push(...members.flatMap((member) => [...member.takeBigInts(40)]))
  for (const member of members) await member.close()
  const next = await open(diskFolder(t), highestOf(made))
  t.teardown(() => next.close())
  made.push(...next.takeBigInts(50))
  t.is(new Set(made).size, made.length)
})

anyTest('a clock behind the last ID: one generator waits and another has maxAheadMs', async (t) => {
  const node = { id: 1, epoch: Date.UTC(2020, 0) } // that no lease of this file has
  const ahead = new FlakeId({ ...node, seqMask: 1, maxAheadMs: Number.POSITIVE_INFINITY })
  const made = [...ahead.takeBigInts(1000)] // of the next half second
  const behind = new FlakeId(node)
  const error = await refused(t, () => behind.next(), 'ERR_FLAKE_CLOCK_BACKWARDS')
  t.true(error.endsWith('next(callback) and nextAsync() wait for it. With maxAheadMs, IDs may run ahead of the clock.'))
  const waiting = behind.nextAsync()
  made.push(...new FlakeId({ ...node, maxAheadMs: 10_000 }).takeBigInts(1000), ...ahead.takeBigInts(1000))
  made.push(numberOf(await waiting), ...behind.takeBigInts(1000))
  t.is(new Set(made).size, made.length)
})

const onPostgres = wantPostgres() === undefined ? anyTest.skip : anyTest

onPostgres('a group that may grant the node of a function in its database: both ways out', async (t) => {
  const server = stopAfter(t, await startPostgres({ fsync: 'on', full_page_writes: 'on' })) // for `durable`
  const made = []
  let name
  const giveNode = async (node) => {
    if (name !== undefined) await server.query(`DROP FUNCTION ${name}()`)
    name = `flake_id_${node}`
    await server.query(await sqlOf('postgres', '--function', name, '--node', node))
  }
  const join = async (options) => {
    const member = new Puppet(t)
    await member.call('join', server.url, { ...options, waitMs: 20_000 })
    return member
  }
  const warningOf = async (member) => {
    const warnings = await member.call('warnings')
    return warnings.find(({ code }) => code === 'FLAKEFORGE_NODE_IN_USE')?.message
  }
  const work = async (members) => {
    for (const member of members) made.push(...(await member.take(1000)))
    const rows = await server.query(`SELECT ${name}() AS id FROM generate_series(1, 500)`)
    made.push(...rows.map(({ id }) => BigInt(id)))
  }

  const group = { ...GROUP, slots: 3 }
  await createGroup(server.url, group)
  await giveNode('2')
  const warned = await join(group)
  await until(() => warningOf(warned), { limitMs: 20_000 })
  t.regex(
    await warningOf(warned),
    /\. Replace the function by one of another name, with a node that no slot of the group has\. Or destroy this group, and create it again with slots: 2 for all members\./,
  )
  await giveNode('3')
  const members = [warned, await join(group), await join(group)]
  t.is(await warningOf(members[2]), undefined)
  await work(members)

  await giveNode('2')
  await warned.call('destroy')
  const smaller = { ...group, slots: 2 }
  await createGroup(server.url, smaller)
  const next = [await join(smaller), await join(smaller)]
  for (const member of members) made.push(...(await member.take(1000).catch(() => [])))
  t.is(await warningOf(next[0]), undefined)
  await work(next)
  t.is(new Set(made).size, made.length)
})

const test = wantRedis() === undefined ? anyTest.skip : anyTest

/** A counter whose record or file is damaged, beside members that still have IDs of a block; then the advice is followed. */
async function replaceCounter(t, { url, code, damage, remove }) {
  const open = (init) => SegmentId.open(url, { name: 'invoices', block: 100, init })
  const members = [await open(), await open()]
  const made = []
  const work = () => made.push(...members.flatMap((member) => [...member.takeBigInts(40)]))
  work()
  await damage()
  const { message, path: file } = await t.throwsAsync(open(), { code })
  t.regex(
    message,
    /Stop all members, (?:delete this record|remove it), and open the counter again with an init at or above every ID that was ever handed out\.?$/,
  )
  work()
  for (const member of members.splice(0)) {
    await member.close()
    const closed = await refused(t, () => member.next(), 'ERR_FLAKE_DETACHED')
    t.regex(closed, /Call SegmentId\.open\(\) for a new one/)
  }
  await remove(file)
  const init = highestOf(made)
  for (let i = 0; i < 2; i++) members.push(await open(init))
  for (const member of members) t.teardown(() => member.close())
  work()
  t.is(new Set(made).size, made.length)
}

anyTest('a counter whose file is damaged: opened again as the error says', async (t) => {
  const folder = diskFolder(t)
  const counters = path.join(folder, '.counters')
  await replaceCounter(t, {
    url: `file:${folder}`,
    code: 'ERR_FLAKE_FILE',
    damage: () => damageHeader(path.join(counters, fs.readdirSync(counters)[0])),
    remove: (file) => fs.rmSync(file),
  })
})

test('a counter whose record is damaged: opened again as the error says', async (t) => {
  const server = stopAfter(t, await startRedis())
  await replaceCounter(t, {
    url: server.url,
    code: 'ERR_FLAKE_RECORD',
    damage: () => server.cli('HSET', recordsOf('invoices'), 'counter', 'hello'),
    remove: () => server.cli('HDEL', recordsOf('invoices'), 'counter'),
  })
})

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
  const highest = highestOf(made)
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

test('another store: it is used after all members have stopped, as the advice says', async (t) => {
  const server = stopAfter(t, await startRedis('--appendonly', 'yes', '--appendfsync', 'always'))
  const [before, after] = [`${server.url}/0`, `${server.url}/1`]
  const join = async (url) => {
    const member = new Puppet(t)
    await member.call('join', url, { ...GROUP, waitMs: 20_000 })
    return member
  }
  const made = []
  const members = [await join(before), await join(before)]
  for (const member of members) made.push(...(await member.take(1000)))
  for (const member of members) await member.kill()
  for (let i = 0; i < GROUP.slots; i++) made.push(...(await (await join(after)).take(1000)))
  t.is(new Set(made).size, made.length)
  t.is(new Set(made.map((id) => (id >> 12n) & 1023n)).size, GROUP.slots, 'both stores grant the same node numbers')
})
