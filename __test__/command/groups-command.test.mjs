// `npx flakeforge create`, `destroy` and `slots` as users run them, on a folder, on Redis and on MariaDB.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import anyTest from 'ava'
import { startEtcd, wantEtcd } from '../servers/etcd.mjs'
import { startMysql, wantMysql } from '../servers/mysql.mjs'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { freePort, stopAfter } from '../servers/server.mjs'
import { fails, isRefused, jsonOf as jsonOfCommand, run, start as startCommand, textOf } from '../support/command.mjs'
import { FlakeId, lease, outputOf } from '../support/index.mjs'
import { closeAfter, happens, joinAs, tryJoin } from '../support/lease.mjs'
import { once } from '../support/waits.mjs'

const linesOf = (text) => text.split('\n').filter((line) => line !== '')
const jsonOf = (t, args, options) => jsonOfCommand(t, [...args, '--json'], options)

const newFolder = async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-command-'))
  return { where: folder, url: `file:${folder}`, stop: async () => fs.rmSync(folder, { recursive: true, force: true }) }
}

/** A server that all tests here share; each has its own database. */
function shared(start, urlOf) {
  let server
  let databases = 0
  anyTest.after.always(async () => (await server)?.stop())
  return async () => {
    server ??= start()
    const url = await urlOf(await server, databases++)
    return { where: url, url, stop: async () => {} }
  }
}
const newRedis = shared(
  () => startRedis('--appendonly', 'yes', '--appendfsync', 'always'),
  (server, i) => `${server.url}/${i}`,
)
const newMariadb = shared(
  () => startMysql({ 'innodb-flush-method': 'fsync' }),
  (server, i) => server.freshUrl(`app${i}`),
)

const STORES = {
  'a folder': { start: newFolder, isThere: true },
  Redis: { start: newRedis, isThere: wantRedis() !== undefined },
  MariaDB: { start: newMariadb, isThere: wantMysql() !== undefined },
}

/** These servers keep acknowledged writes, so no new group needs a quiet period. A folder ignores it. */
const durable = true
const ENDED = {
  'a folder': (group) => `Destroyed group '${group}'.\n`,
  Redis: (group) => `Destroyed group '${group}'. For about the next 65 s, a new group of this name grants no slots.\n`,
}
ENDED.MariaDB = ENDED.Redis
const MADE = {
  'a folder': (group) => `Created group '${group}'.\n`,
  Redis: (group) => `Created group '${group}' and waited until it grants slots.\n`,
}
MADE.MariaDB = MADE.Redis
const NO_GROUPS = {
  'a folder': (where) => new RegExp(`^There are no groups in ${where}\\.\\n$`),
  MariaDB: () => /^There are no groups on this server\.\nThe records are at \S+\/\S+\.\n$/,
}

for (const [kind, { start, isThere }] of Object.entries(STORES)) {
  const test = isThere ? anyTest : anyTest.skip

  async function started(t) {
    const store = stopAfter(t, await start())
    return store
  }

  test(`${kind}: create makes a group whose members need not wait, and reports that`, async (t) => {
    const { where, url } = await started(t)
    const before = Date.now()
    t.is(await textOf(t, ['create', where, 'orders', '--skew', '400']), MADE[kind]('orders'))
    if (kind !== 'a folder') t.true(Date.now() - before > 1400, 'it is quiet for a second and the skew')
    t.is(await textOf(t, ['create', where, '--durable']), MADE[kind]('default'))
    t.deepEqual(await jsonOf(t, ['create', where, 'orders', '--skew', '400']), [{ group: 'orders', created: false }])
    const again = await textOf(t, ['create', where, 'orders', '--skew', '400'])
    t.regex(again, /^Group 'orders' already exists.* Nothing was changed\.\n$/)
    const several = await Promise.all([1, 2, 3, 4].map(() => jsonOf(t, ['create', where, 'others', '--durable'])))
    t.is(several.flat().filter(({ created }) => created).length, 1, 'of several at once, one created it')
    t.is((await joinAs(t, url, { group: 'orders', skewMs: 400, waitMs: 5000 })).state, 'attached')
    t.is((await joinAs(t, url, { group: 'default', durable, epoch: 0, waitMs: 5000, host: 'other' })).state, 'attached')
  })

  test(`${kind}: a destroyed group is created again once its members must have stopped`, async (t) => {
    const { where, url } = await started(t)
    const options = ['--ttl', '2000', '--skew', '700', '--durable']
    t.deepEqual(await jsonOf(t, ['create', where, 'orders', ...options]), [{ group: 'orders', created: true }])
    const before = Date.now()
    t.is(await textOf(t, ['destroy', where, 'orders', '--yes']), ENDED[kind]('orders'))
    t.regex(await textOf(t, ['create', where, 'orders', ...options]), /^Created group 'orders'/)
    if (kind !== 'a folder') t.true(Date.now() - before > 2700, 'ttl and skew')
    const flake = await joinAs(t, url, { group: 'orders', ttlMs: 2000, skewMs: 700, durable, waitMs: 20_000 })
    t.is(flake.state, 'attached')
  })

  if (kind === 'Redis')
    test(`${kind}: create says why it takes long, and after a signal what may have become of the group`, async (t) => {
      const { url } = await started(t)
      const env = { FLAKEFORGE_STORE: url }
      const child = startCommand(['create'], { env })
      const output = outputOf(child)
      const [first] = await once(child.stderr, 'data')
      t.regex(
        String(first),
        /^flakeforge: Creating group 'default' takes 6 s on a server: 1 s, and 5 s because .* \(--skew\)\. /,
      )
      child.kill('SIGINT')
      const { signal, stdout, stderr } = await output
      t.deepEqual([signal, stdout], ['SIGINT', ''])
      t.regex(
        stderr,
        /\nflakeforge: Interrupted\. Group 'default' may exist already, without granting slots yet\. Run the same command/,
      )
      // The advice, followed: then no join() waits for 65 s.
      t.regex((await run(['create'], { env })).stdout, /^Group 'default' already exists/)
      t.is((await joinAs(t, url, { group: 'default', waitMs: 5000 })).state, 'attached')
    })

  test(`${kind}: the options of create are those of the members`, async (t) => {
    const { where, url } = await started(t)
    const options = ['--slots', '3', '--ttl', '4000', '--skew=700', '--datacenter', '5', '--epoch', '2020-01-01']
    options.push('--durable')
    await textOf(t, ['create', where, 'orders', ...options])
    const times = { ttlMs: 4000, skewMs: 700 }
    const same = { group: 'orders', durable, slots: 3, ...times, datacenter: 5, epoch: Date.UTC(2020, 0) }
    const flake = await joinAs(t, url, { ...same, waitMs: 5000 })
    t.is(flake.datacenter, 5)
    const others = [{ slots: 4 }, { datacenter: 6 }, { epoch: Date.UTC(2021, 0) }]
    // A slot of a folder has no ttl.
    if (kind !== 'a folder') others.push({ ttlMs: 4001 }, { skewMs: 701 }, { durable: false })
    for (const other of others) {
      const call = tryJoin(url, { ...same, ...other, waitMs: 5000 })
      await t.throwsAsync(call, { code: 'ERR_FLAKE_CONFIG_MISMATCH' }, JSON.stringify(other))
    }
    await fails(
      t,
      ['create', where, 'orders', '--slots', '4'],
      /Group 'orders' has .*; this process uses .*flakeforge destroy /,
    )
    await fails(
      t,
      ['create', where, 'orders', ...options.with(1, '4')],
      /Group 'orders' has .*; this process uses .*flakeforge destroy /,
    )
  })

  test(`${kind}: the offsets of nodes and of IDs are options of create too`, async (t) => {
    const { where, url } = await started(t)
    for (const [i, idOffset] of [5n, -3n].entries()) {
      const group = `offset-${i}`
      await textOf(t, ['create', where, group, '--node-offset', '8', '--id-offset', String(idOffset), '--durable'])
      const same = { group, durable, nodeOffset: 8, idOffset }
      const flake = await joinAs(t, url, { ...same, waitMs: 5000 })
      t.is(flake.id, flake.slot + 8)
      for (const other of [{ nodeOffset: 9 }, { nodeOffset: undefined }, { idOffset: 6n }, { idOffset: undefined }]) {
        const call = tryJoin(url, { ...same, ...other, waitMs: 5000 })
        await t.throwsAsync(call, { code: 'ERR_FLAKE_CONFIG_MISMATCH' }, Object.keys(other)[0])
      }
    }
  })

  test(`${kind}: create keeps nodes for IDs of the past`, async (t) => {
    const { where, url } = await started(t)
    t.is(await textOf(t, ['create', where, 'old', '--backfill', '4', '--durable']), MADE[kind]('old'))
    const flake = await joinAs(t, url, { group: 'old', durable, backfill: 4, waitMs: 5000 })
    const time = Date.UTC(2024, 1, 29)
    t.like(flake.decode(await flake.nextAt(time)), { timestamp: time, id: 1023 })
    const call = tryJoin(url, { group: 'old', durable, waitMs: 5000 })
    await t.throwsAsync(call, { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
    const id = await textOf(t, [
      'new',
      '--store',
      where,
      '--group',
      'old',
      '--backfill',
      '4',
      '--durable',
      '--as',
      'dec',
    ])
    t.true(flake.decode(BigInt(id)).id < 1020)
    if (kind !== 'a folder') await isRefused(t, ['create', where, 'more', '--backfill', '4'], /--durable|durable: true/)
  })

  test(`${kind}: create accepts layouts, your own fields and their options`, async (t) => {
    const { where, url } = await started(t)
    const layout = { fields: Object.entries({ timestamp: 41, region: 3, shard: 10, counter: 10 }) }
    await textOf(t, ['create', where, 'own', '--layout', JSON.stringify(layout), '--region', '7', '--durable'])
    const flake = await joinAs(t, url, { group: 'own', durable, layout, region: 7, waitMs: 5000 })
    t.is(flake.decode(flake.next()).region, 7)
    await textOf(t, ['create', where, 'snowcast', '--layout', 'snowcast', '--nodes', '128', '--durable'])
    const snowcast = { group: 'snowcast', durable, layout: 'snowcast', nodes: 128, waitMs: 5000 }
    t.true((await joinAs(t, url, snowcast)).slot < 128)
    await t.throwsAsync(tryJoin(url, { ...snowcast, nodes: 256 }), { code: 'ERR_FLAKE_CONFIG_MISMATCH' })
  })

  test(`${kind}: a rejected create creates nothing`, async (t) => {
    const { where } = await started(t)
    await isRefused(t, ['create', where, 'a', '--slots', '0'], /slots/)
    if (kind === 'Redis') await fails(t, ['slots', where], /There is no group 'default' on this server/)
    else t.regex(await textOf(t, ['slots', where]), NO_GROUPS[kind](where))
  })

  test(`${kind}: destroy without --yes does nothing; with it every member stops`, async (t) => {
    const { where, url } = await started(t)
    await textOf(t, ['create', where, 'orders', '--ttl', '4000', '--skew', '2000', '--durable'])
    const options = { group: 'orders', durable, ttlMs: 4000, skewMs: 2000, waitMs: 20_000 } // a step may be slow
    const flake = await joinAs(t, url, options)
    await isRefused(t, ['destroy', where, 'orders'], /--yes/)
    await isRefused(t, ['destroy', where, 'orders', '--json'], /--yes/)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    t.is(flake.state, 'attached')
    t.is((await jsonOf(t, ['slots', where, '--group', 'orders'])).length, 1)
    const stopped = happens(flake, 'destroyed')
    t.is(await textOf(t, ['destroy', where, 'orders', '--yes']), ENDED[kind]('orders'))
    await stopped
    t.throws(() => flake.next(), { code: 'ERR_FLAKE_DESTROYED' })
    await fails(t, ['slots', where, '--group', 'orders'], /There is no group 'orders'/)
    // The next group may have other options.
    t.regex(await textOf(t, ['create', where, 'orders', '--slots', '7', '--durable']), /^Created group 'orders'/)
    t.true((await joinAs(t, url, { group: 'orders', durable, slots: 7, waitMs: 20_000 })).slot < 7)
    t.deepEqual(await jsonOf(t, ['destroy', where, 'orders', '--yes']), [{ group: 'orders', destroyed: true }])
  })

  test(`${kind}: slots shows the holders, as lines and as JSON`, async (t) => {
    const { where, url } = await started(t)
    await textOf(t, ['create', where, 'orders', '--slots', '4', '--durable'])
    const options = { group: 'orders', durable, slots: 4, waitMs: 5000 }
    const one = await joinAs(t, url, { ...options, host: 'web-1' })
    const two = await joinAs(t, url, { ...options, host: 'web-2' })
    one.next()
    await two.close()
    const rows = await jsonOf(t, ['slots', where, '--group', 'orders'])
    const slots = rows.map(({ slot }) => slot)
    t.deepEqual(slots, slots.toSorted())
    const held = rows.find(({ slot }) => slot === one.slot)
    const free = rows.find(({ slot }) => slot !== one.slot)
    t.deepEqual([rows.length, held.group, typeof held.owner, typeof free.owner], [2, 'orders', 'string', 'undefined'])
    const [heading, ...lines] = linesOf(await textOf(t, ['slots', url, '--group', 'orders']))
    t.is(lines.length, kind === 'a folder' ? 2 : 3)
    if (kind !== 'a folder') t.regex(lines[2], /^The records are at .*\d.*\.$/)
    t.regex(heading, /^group +slot +holder +since +last ID +window ends *$/)
    t.regex(lines[rows.indexOf(held)], new RegExp(`^orders +${held.slot} +\\S*(web-1|process \\d+)`))
    t.regex(lines[rows.indexOf(free)], new RegExp(`^orders +${free.slot} +free`))
    const withoutEnd = ({ hi, ...row }) => row // a renewal may happen between the two reads
    const named = await jsonOf(t, ['slots', '--group', 'orders'], { env: { FLAKEFORGE_STORE: url } })
    t.deepEqual(named.map(withoutEnd), rows.map(withoutEnd))
    await textOf(t, ['create', where, 'nobody', '--durable'])
    t.regex(await textOf(t, ['slots', where, '--group', 'nobody']), /^Group 'nobody' is empty/)
    t.deepEqual(await jsonOf(t, ['slots', where, '--group', 'nobody']), [])
    await fails(t, ['slots', where, '--group', 'nobdoy'], /There is no group 'nobdoy'/)
    await isRefused(t, ['slots', where, 'orders'], /one DIR or URL/)
    await isRefused(t, ['slots', where, '--group', 'a{b'], /group/)
  })
}

// Wrong arguments are rejected before the store is contacted, even if no server answers.

anyTest('create rejects wrong arguments, and creates nothing', async (t) => {
  const { where, stop } = await newFolder()
  t.teardown(stop)
  const nobody = `redis://127.0.0.1:${await freePort()}`
  for (const args of [[], [where, 'a', 'b']]) await isRefused(t, ['create', ...args], /create takes DIR or URL/)
  for (const [words, message] of [
    ['a --slots 0', /slots/],
    ['a --slots many', /slots/],
    ['a --slots 1025', /slots/],
    ['a --slots', /slots/],
    ['a --ttl 1999', /ttl/],
    ['a --ttl 60001', /ttl/],
    ['a --ttl 2000 --skew 1400', /skew/],
    ['a --layout nonsense', /nonsense/],
    ['a --layout {', /JSON/],
    ['a --shard 1', /shard/],
    ['a --backfill 1024', /--backfill/],
    ['a --backfill few', /--backfill/],
    ['a --node-offset -1', /--node-offset/],
    ['a --node-offset 1024', /--node-offset/],
    ['a --id-offset 1.5', /--id-offset/],
    [`a --id-offset ${2n ** 63n}`, /--id-offset/],
    ['a{b', /group/],
    ['', /group/],
  ]) {
    for (const store of [where, nobody]) await isRefused(t, ['create', store, ...words.split(' ')], message)
  }
  t.deepEqual(fs.readdirSync(where), [])
})

anyTest('a command without a store names the variable that was probably meant to be it', async (t) => {
  const env = { FLAKEFORGE_STROE: 'redis://localhost' }
  const named = /FLAKEFORGE_STROE is set: did you mean FLAKEFORGE_STORE\?$/m
  for (const args of [['create'], ['create', 'orders'], ['destroy'], ['destroy', 'orders', '--yes'], ['restored']])
    await isRefused(t, args, named, { env })
  t.notRegex(await isRefused(t, ['create'], /FLAKEFORGE_STORE must be set\.$/m, { env: { FLAKEFORGE_ID: '3' } }), named)
})

anyTest('destroy rejects wrong arguments', async (t) => {
  const where = `redis://127.0.0.1:${await freePort()}`
  await isRefused(t, ['destroy'], /destroy takes DIR or URL, and GROUP/)
  await isRefused(t, ['destroy', where], /destroy takes/)
  await isRefused(t, ['destroy', where, '--yes'], /destroy takes/)
  await isRefused(t, ['destroy', where, 'a', 'b', '--yes'], /destroy takes/)
  await isRefused(t, ['destroy', where, 'a', '--sure'], /--sure/)
  for (const name of ['', 'a{b', 'x'.repeat(129)]) await isRefused(t, ['destroy', where, name, '--yes'], /group/)
})

const onEtcd = wantEtcd() === undefined ? anyTest.skip : anyTest

onEtcd('etcd: slots lists all existing groups, whatever their names, and detects a misspelt one', async (t) => {
  const server = stopAfter(t, await startEtcd())
  const url = server.url.replace('http:', 'etcd:')
  t.regex(await textOf(t, ['slots', url]), /^There are no groups on this server\.\nThe records are at /)
  const names = ['a', 'a/b', 'ä b"c', 'orders', 'ordersz', 'ended']
  for (const group of names) {
    t.deepEqual(await jsonOf(t, ['create', url, group, '--durable']), [{ group, created: true }])
  }
  t.deepEqual(await jsonOf(t, ['create', url, 'a/b', '--durable']), [{ group: 'a/b', created: false }])
  await textOf(t, ['destroy', url, 'ended', '--yes'])
  const flake = await FlakeId.join(url, { group: 'orders', durable, waitMs: 20_000 })
  const { slot: theirs } = flake
  await flake.close()
  t.deepEqual(
    (await jsonOf(t, ['slots', url])).map(({ group, slot }) => [group, slot]),
    [['orders', theirs]],
  )
  const empty = linesOf(await textOf(t, ['slots', url])).flatMap(
    (line) => /^Group '(.*)' is empty/.exec(line)?.[1] ?? [],
  )
  t.deepEqual(empty.sort(), ['a', 'a/b', 'ordersz', 'ä b"c'].sort())
  await fails(t, ['slots', url, '--group', 'oredrs'], /Did you mean 'orders'\?/)
  await fails(t, ['slots', url, '--group', 'ended'], /There is no group 'ended' on this server/)
})

onEtcd('etcd: restored marks all groups and counters, or one', async (t) => {
  const server = stopAfter(t, await startEtcd())
  const url = server.url.replace('http:', 'etcd:')
  t.is(await textOf(t, ['restored', url]), 'There are no groups and no counters on this server.\n')
  const join = (group) => FlakeId.join(url, { group, durable: true, waitMs: 20_000 })
  for (const group of ['orders', 'users']) closeAfter(t, await join(group))
  const invoices = await lease.SegmentId.open(url, { name: 'invoices' })
  closeAfter(t, invoices)

  t.regex(await textOf(t, ['restored', url, '--group', 'users']), /^Group 'users' grants no slots .*\n$/)
  await t.throwsAsync(join('users'), { code: 'ERR_FLAKE_QUIET' })
  closeAfter(t, await join('orders'))
  t.deepEqual(await jsonOf(t, ['restored', url]), [{ name: 'invoices' }, { group: 'orders' }, { group: 'users' }])
  await t.throwsAsync(join('orders'), { code: 'ERR_FLAKE_QUIET' })
  const other = await lease.SegmentId.open(url, { name: 'invoices' })
  closeAfter(t, other)
  t.throws(() => other.nextBigInt(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })
  await other.skipTo(1_000_000)
  t.is(other.nextBigInt(), 1_000_000n)
  await isRefused(t, ['restored', url, '--group', 'a', '--segment', 'b'], /not both/)
  await isRefused(t, ['restored'], /one URL/)
})

for (const [name, { start, isThere }] of Object.entries(STORES)) {
  const test = isThere ? anyTest : anyTest.skip
  test(`${name}: counters are listed and destroyed`, async (t) => {
    const { url, stop } = await start()
    t.teardown(stop)
    const named = name === 'Redis' ? ['--segment', 'invoices'] : []
    if (name === 'Redis') {
      await isRefused(t, ['counters', url], /cannot list its counters\. Name one with --segment/)
    } else {
      t.regex(await textOf(t, ['counters', url]), /^There are no counters /)
      await (await lease.SegmentId.open(url, { name: 'bills' })).close()
    }
    const invoices = await lease.SegmentId.open(url, { name: 'invoices', block: 50, init: 2n ** 60n })
    closeAfter(t, invoices)
    const next = String(2n ** 60n + 51n)
    t.regex(await textOf(t, ['counters', url, ...named]), new RegExp(`^invoices +${next} .*counts$`, 'm'))
    const rows = await jsonOf(t, ['counters', url, ...named])
    t.like(rows.at(-1), { name: 'invoices', next, isLost: false, lineage: invoices.lineage })
    t.is(rows.length, name === 'Redis' ? 1 : 2)

    await isRefused(t, ['destroy', url, '--segment', 'invoices'], /hands out the same numbers.*add --yes/)
    await isRefused(t, ['destroy', url, 'group', '--segment', 'invoices', '--yes'], /GROUP or --segment, not both/)
    await fails(t, ['destroy', url, '--segment', 'invoises', '--yes'], /There is no segment counter 'invoises'/)
    t.is(await textOf(t, ['destroy', url, '--segment', 'invoices', '--yes']), "Destroyed segment counter 'invoices'.\n")
    await fails(t, ['counters', url, '--segment', 'invoices'], /There is no segment counter 'invoices'/)
    await t.throwsAsync(invoices.takeAsync(100), { code: 'ERR_FLAKE_DESTROYED' })
  })
}

const onRedis = wantRedis() === undefined ? anyTest.skip : anyTest

onRedis('Redis: restored marks a named group, because Redis cannot list them', async (t) => {
  const { url, stop } = await newRedis()
  t.teardown(stop)
  await joinAs(t, url, { group: 'orders', durable: true, waitMs: 20_000 })
  await isRefused(t, ['restored', url], /cannot list its groups and counters\. Name each with --group or --segment/)
  await t.throwsAsync(lease.restored(url), { code: 'ERR_FLAKE_OPTION', message: /cannot list its contents/ })
  t.regex(await textOf(t, ['restored', url, '--segment', 'invoices']), /^Segment counter 'invoices' grants no blocks/)
  const invoices = await lease.SegmentId.open(url, { name: 'invoices', durable: true })
  closeAfter(t, invoices)
  t.throws(() => invoices.nextBigInt(), { code: 'ERR_FLAKE_STORE', message: /skipTo/ })

  await lease.restored(url, 'orders')
  await t.throwsAsync(tryJoin(url, { group: 'orders', durable: true, waitMs: 20_000 }), { code: 'ERR_FLAKE_QUIET' })
  await lease.restored(lease.openStore(url), { name: 'bills' })
  const { code } = await t.throwsAsync(async () => (await lease.SegmentId.open(url, { name: 'bills' })).next())
  t.is(code, 'ERR_FLAKE_STORE')
})

anyTest('restored accepts only servers, and a group or a counter', async (t) => {
  const folder = await newFolder()
  t.teardown(folder.stop)
  await t.throwsAsync(lease.restored(folder.url), { code: 'ERR_FLAKE_OPTION', message: /for servers only/ })
  const store = lease.recordStore({ read: async () => {}, swap: async () => {}, names: async () => {} })
  for (const what of [1, '', 'a{b', {}, { name: '' }, { group: 'a' }, { name: 'a', more: 1 }]) {
    await t.throwsAsync(lease.restored(store, what), { code: 'ERR_FLAKE_OPTION' }, JSON.stringify(what))
  }
})

for (const url of ['mongodb://user:s3cret@host', 's3://user:s3cret@host', 'etcd://user:s3cret@']) {
  anyTest(`an invalid address is rejected without its password: ${url}`, async (t) => {
    for (const args of [
      ['slots', url],
      ['create', url, 'a'],
      ['destroy', url, 'a', '--yes'],
    ]) {
      t.false((await isRefused(t, args, /store|folder/)).includes('s3cret'))
    }
  })
}

anyTest('no server: one sentence and status 1', async (t) => {
  for (const scheme of ['redis', 'postgres', 'mysql', 'etcd']) {
    const url = `${scheme}://user:s3cret@127.0.0.1:${await freePort()}${scheme === 'mysql' ? '/app' : ''}`
    const stderr = await fails(t, ['create', url, 'a'], /ECONNREFUSED|does not answer|pool timeout/)
    t.false(stderr.includes('s3cret'))
  }
})

anyTest('an unreadable group does not hide the others', async (t) => {
  const { where, url, stop } = await newFolder()
  t.teardown(stop)
  for (const group of ['a', 'broken', 'c', 'gone']) await (await FlakeId.join(url, { group })).close()
  const damaged = ['broken', 'gone'].map((group) => path.join(where, group, '1', '0'))
  for (const file of damaged) fs.truncateSync(file, 100)
  const table = await run(['slots', where])
  t.is(table.code, 1)
  t.deepEqual(
    linesOf(table.stdout).map((line) => line.split(' ')[0]),
    ['group', 'a', 'c'],
  )
  const sentences = linesOf(table.stderr)
  t.is(sentences.length, 2)
  for (const [i, file] of damaged.entries()) t.true(sentences[i].startsWith(`flakeforge: ${file}: `), sentences[i])
  const { code, stdout, stderr } = await run(['slots', where, '--json'])
  t.deepEqual({ code, stderr }, { code: 1, stderr: table.stderr })
  t.deepEqual(
    linesOf(stdout).map((line) => JSON.parse(line).group),
    ['a', 'c'],
  )
  await fails(t, ['slots', where, '--group', 'broken'], /broken/)
})

anyTest('a name is used as given, even with a minus sign of any kind in it', async (t) => {
  const { where, stop } = await newFolder()
  t.teardown(stop)
  const names = ['a-b', 'a\u2212b', '-5', '\u22125']
  for (const group of names) t.deepEqual(await jsonOf(t, ['create', where, group]), [{ group, created: true }])
  t.is(fs.readdirSync(where).length, names.length)
  for (const group of names) t.is(await textOf(t, ['destroy', where, group, '--yes']), `Destroyed group '${group}'.\n`)
})

anyTest('destroy: a group that never existed in a folder is a typing error; an ended one is not', async (t) => {
  const { where, stop } = await newFolder()
  t.teardown(stop)
  for (const group of ['orders', '.odd/näme']) {
    await fails(t, ['destroy', where, group, '--yes'], /There is no group/)
    await fails(t, ['destroy', where, group, '--yes', '--json'], /There is no group/)
    t.false(fs.readdirSync(where).includes(group))
    await textOf(t, ['create', where, group])
    for (let i = 0; i < 2; i++)
      t.is(await textOf(t, ['destroy', where, group, '--yes']), `Destroyed group '${group}'.\n`)
  }
})

anyTest('a missing folder is created only by create, as by join()', async (t) => {
  const { where, stop } = await newFolder()
  t.teardown(stop)
  const folder = path.join(where, 'new', 'ids')
  for (const name of [folder, `file:${folder}`]) {
    await fails(t, ['destroy', name, 'a', '--yes'], /no folder/)
    await fails(t, ['slots', name], /no folder/)
    await isRefused(t, ['create', name, 'a', '--slots', '0'], /slots/)
  }
  t.deepEqual(fs.readdirSync(where), [])
  t.is(await textOf(t, ['create', folder, 'a']), "Created group 'a'.\n")
  t.deepEqual(fs.readdirSync(folder), ['a'])
  await textOf(t, ['create', `file:${path.join(where, 'other')}`])
  t.deepEqual(fs.readdirSync(path.join(where, 'other')), ['default'])
})

anyTest('in a folder, where no new group waits, --durable changes nothing', async (t) => {
  const { where, url, stop } = await newFolder()
  t.teardown(stop)
  t.is(await textOf(t, ['create', where, 'a', '--durable']), "Created group 'a'.\n")
  await (await FlakeId.join(url, { group: 'a' })).close()
})

anyTest(
  'FLAKEFORGE_STORE names the store of create, destroy and slots; every argument except an address is a group',
  async (t) => {
    const { where, url, stop } = await newFolder()
    t.teardown(stop)
    const options = { env: { FLAKEFORGE_STORE: url } }
    t.is(await textOf(t, ['create', 'orders2'], options), "Created group 'orders2'.\n")
    t.is(await textOf(t, ['create'], options), "Created group 'default'.\n")
    t.is(await textOf(t, ['create', where, 'third']), "Created group 'third'.\n")
    t.deepEqual(fs.readdirSync(where).toSorted(), ['default', 'orders2', 'third'])
    t.is(await textOf(t, ['destroy', 'orders2', '--yes'], options), "Destroyed group 'orders2'.\n")
    t.regex(await textOf(t, ['slots'], options), /^Group 'default' is empty/)
    await isRefused(t, ['slots', 'default'], /takes one DIR or URL.* --group/, options)
  },
)

anyTest(
  'an argument that is neither an address nor an absolute path creates no folder: the error names the line to type',
  async (t) => {
    const set = { env: { FLAKEFORGE_STORE: 'redis://localhost' } }
    const line = (text) => new RegExp(text.replace(/[$./?]/g, '\\$&'))
    const meant = path.resolve('orders2')
    await isRefused(t, ['create', 'orders2'], line(`flakeforge create redis://HOST orders2 (or`.replace(' (or', '')))
    await isRefused(t, ['create', 'orders2'], line(`For that folder, use file:${meant}`))
    await isRefused(t, ['create', './orders2'], line(`For that folder, use file:${meant}`), set)
    await isRefused(t, ['create', 'a/b'], line('flakeforge create "$FLAKEFORGE_STORE" a/b'), set)
    await isRefused(t, ['destroy', 'orders2', '--yes'], line('flakeforge destroy redis://HOST orders2'))
    await isRefused(t, ['slots', 'orders2'], line('flakeforge slots redis://HOST --group orders2'))
    await isRefused(t, ['restored', '../orders2'], line('flakeforge restored redis://HOST --group ../orders2'))
    await isRefused(t, ['new', '--store', 'orders2'], line(meant))
    t.false(fs.existsSync('orders2'))
  },
)

anyTest('create and destroy: the store and the group in the wrong order', async (t) => {
  const right = (command) =>
    new RegExp(
      `^flakeforge: The store comes first, and then the group: flakeforge ${command} redis://localhost shop\\n$`,
    )
  await isRefused(t, ['create', 'shop', 'redis://localhost'], right('create'))
  await isRefused(t, ['destroy', 'shop', 'redis://localhost', '--yes'], right('destroy'))
  t.false(fs.existsSync('shop'))
})

onRedis('slots without a group, on a Redis without a default group: the error asks for one', async (t) => {
  const { where, stop } = await newRedis()
  t.teardown(stop)
  await textOf(t, ['create', where, 'shop', '--durable'])
  await fails(
    t,
    ['slots', where],
    /no group 'default' on this server\. Name one with --group: this server cannot list its groups/,
  )
  await fails(
    t,
    ['slots', where, '--group', 'shpo'],
    /no group 'shpo' on this server\. Check its name: this server cannot list/,
  )
})
