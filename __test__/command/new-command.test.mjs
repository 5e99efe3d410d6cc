// `npx flakeforge new` without a node number: it holds a slot while it runs, so that simultaneous commands generate no
// equal IDs. Real processes, on folders and on a Redis.

import fs from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { startRedis, wantRedis } from '../servers/redis.mjs'
import { stopAfter } from '../servers/server.mjs'
import { fails, isRefused, jsonOf, linesOf, run, start } from '../support/command.mjs'
import { FlakeId, outputOf } from '../support/index.mjs'
import { diskFolder } from '../support/processes.mjs'
import { once } from '../support/waits.mjs'

const { layouts } = FlakeId
const onRedis = wantRedis() === undefined ? test.skip : test

/** A place for the default folder that no other test uses. */
const fresh = (t) => ({ env: { XDG_STATE_HOME: diskFolder(t) } })
const folderOf = ({ env }) => path.join(env.XDG_STATE_HOME, 'flakeforge')

const idsOf = (stdout) => stdout.split('\n').slice(0, -1)

/** The held slots of a store. */
const heldIn = async (t, where, options) =>
  (await jsonOf(t, ['slots', where, '--json'], options)).filter(({ owner }) => owner !== undefined)

const MANY = 200_000

test('four simultaneous commands generate no equal IDs', async (t) => {
  const options = fresh(t)
  const args = ['new', String(MANY), '--as', 'dec']
  const outputs = await Promise.all([1, 2, 3, 4].map(() => outputOf(start(args, options))))
  const all = new Set()
  for (const { code, stdout, stderr } of outputs) {
    t.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    for (const id of idsOf(stdout)) all.add(id)
  }
  t.is(all.size, 4 * MANY)
  t.deepEqual(await heldIn(t, folderOf(options), options), [])
})

/** A command that generates IDs endlessly, after its first ones have arrived. */
async function endless(t, args, options) {
  const child = start(['new', '999999999', '--as', 'dec', ...args], options)
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'readable')
  return child
}

test('a slot is held while IDs are generated, and join() and the next command take others', async (t) => {
  const options = fresh(t)
  const child = await endless(t, [], options)
  const [{ group, slot, pid }] = await heldIn(t, folderOf(options), options)
  t.deepEqual([group, slot, pid], ['default', 0, child.pid])
  const [{ parts }] = await jsonOf(t, ['new', '--json'], options)
  t.is(parts.id, 1)
  const flake = await FlakeId.join(`file:${folderOf(options)}`)
  t.is(flake.id, 1)
  await flake.close()
})

const ENDINGS = {
  'a reader that stops early (| head)': {
    end: (child) => child.stdout.destroy(),
    expected: { code: 0, signal: null },
  },
  SIGINT: { end: (child) => child.kill('SIGINT'), expected: { code: null, signal: 'SIGINT' } },
  SIGTERM: { end: (child) => child.kill('SIGTERM'), expected: { code: null, signal: 'SIGTERM' } },
}

for (const [name, { end, expected }] of Object.entries(ENDINGS)) {
  test(`the slot of a folder is free again: ${name}`, async (t) => {
    const options = fresh(t)
    const child = await endless(t, [], options)
    const output = outputOf(child)
    end(child)
    t.like(await output, { ...expected, stderr: '' })
    t.deepEqual(await heldIn(t, folderOf(options), options), [])
    t.is((await jsonOf(t, ['new', '--json'], options))[0].parts.id, 0)
  })

  onRedis(`the slot of a server is released: ${name}`, async (t) => {
    const server = stopAfter(t, await startRedis())
    await linesOf(t, ['create', server.url])
    const child = await endless(t, ['--store', server.url])
    t.is((await heldIn(t, server.url)).length, 1)
    const output = outputOf(child)
    end(child)
    t.like(await output, { ...expected, stderr: '' })
    t.deepEqual(await heldIn(t, server.url), [], 'at once, before its window ends')
  })
}

onRedis('--store and --group: a slot of a server, whose options must agree', async (t) => {
  const server = stopAfter(t, await startRedis())
  await linesOf(t, ['create', server.url, 'shop', '--slots', '4', '--layout', 'hazelcast'])
  const args = ['new', '3', '--group', 'shop', '--layout', 'hazelcast']
  const env = { FLAKEFORGE_STORE: server.url }
  for (const options of [{}, { env }]) {
    const named = options.env === undefined ? ['--store', server.url] : []
    const ids = await linesOf(t, [...args, '--slots', '4', '--as', 'dec', ...named], options)
    t.true(layouts.hazelcast.decode(ids[2]).node < 4)
  }
  await fails(t, [...args, '--store', server.url], /Group 'shop' has slots 4; this process uses slots /)
  await isRefused(t, [...args, '--ttl', '5', '--store', server.url], /--ttl must be/)
})

onRedis('--durable: a new group on a server that keeps everything is used at once', async (t) => {
  const server = stopAfter(t, await startRedis('--appendonly', 'yes', '--appendfsync', 'always'))
  t.is((await linesOf(t, ['new', '3', '--as', 'dec', '--store', server.url, '--durable'])).length, 3)
  await isRefused(t, ['new', '--id', '5', '--durable'], /--durable is about slots/)
})

onRedis('a new group on a server: one sentence explains the wait', async (t) => {
  const server = stopAfter(t, await startRedis())
  const { code, stdout, stderr } = await run(['new', '--store', server.url, '--wait', '5000'])
  t.is(code, 1)
  t.is(stdout, '')
  for (const line of stderr.trimEnd().split('\n')) t.regex(line, /^flakeforge: .*flakeforge create/)
})

test('--store accepts a folder as a plain path', async (t) => {
  const folder = diskFolder(t)
  const [{ parts }] = await jsonOf(t, ['new', '--json', '--store', path.join(folder, 'ids'), '--datacenter', '3'])
  t.like(parts, { datacenter: 3, worker: 0 })
  t.deepEqual(fs.readdirSync(path.join(folder, 'ids')), ['default'])
})

test('a relative folder is rejected, with the absolute one, where other commands must find the same store', async (t) => {
  const meant = `must be an absolute path, but is 'ids': .* Did you mean '${path.resolve('ids')}'`
  await isRefused(t, ['new', '--store', 'ids'], new RegExp(`^flakeforge: --store ${meant}`))
  const env = { FLAKEFORGE_STORE: 'ids' }
  for (const command of [['new'], ['slots']]) {
    const { code, stderr } = await run(command, { env })
    t.is(code, 2)
    t.regex(stderr, new RegExp(`FLAKEFORGE_STORE cannot be used: store ${meant}`))
  }
  t.false(fs.existsSync('ids'))
})

test('the default group is that of join(), however many slots it has', async (t) => {
  const options = fresh(t)
  const flake = await FlakeId.join(`file:${folderOf(options)}`, { slots: 7 })
  t.is((await jsonOf(t, ['new', '--json'], options))[0].parts.id, 1)
  await flake.close()
})

test('another layout neither fails on the default group nor takes it away from join()', async (t) => {
  const options = fresh(t)
  await linesOf(t, ['new', '--layout', 'discord', '--as', 'dec'], options)
  const epochs = ['2020-01-01', '2021-01-01']
  for (const epoch of epochs) await linesOf(t, ['new', '--epoch', epoch, '--as', 'dec'], options)
  t.is(fs.readdirSync(folderOf(options)).length, 3, 'one group for each layout')
  const flake = await FlakeId.join(`file:${folderOf(options)}`, { layout: 'hazelcast' })
  t.is((await jsonOf(t, ['new', '--json'], options))[0].parts.id, 512, 'the default group has another layout')
  t.is((await jsonOf(t, ['new', '--json', '--layout', 'hazelcast'], options))[0].parts.id, 1, 'as join() has')
  await flake.close()
})

test('join() never takes a slot that was taken before the group default existed', async (t) => {
  const options = fresh(t)
  const [{ parts }] = await jsonOf(t, ['new', '--json', '--layout', 'discord'], options)
  const join = () => FlakeId.join(`file:${folderOf(options)}`, { layout: 'discord' })
  const flakes = [await join(), await join()]
  t.deepEqual([parts.id, ...flakes.map(({ id }) => id)], [512, 0, 1])
  t.is((await jsonOf(t, ['new', '--json', '--layout', 'discord'], options))[0].parts.id, 2, 'now the group is known')
  await Promise.all(flakes.map((flake) => flake.close()))
})

test('other slots of the same layout are refused: a second group would have the same node numbers', async (t) => {
  const others = [['--slots', '4'], ['--node-offset', '1'], ['--datacenter', '0', '--wait', '0']] // biome-ignore format: one line
  const options = fresh(t)
  for (const args of others) await isRefused(t, ['new', ...args], /name the group that your applications use/, options)
  t.false(fs.existsSync(folderOf(options)))
  const flake = await FlakeId.join(`file:${folderOf(options)}`)
  for (const args of others) await fails(t, ['new', ...args], /^flakeforge: Group 'default' has /, options)
  t.deepEqual(fs.readdirSync(folderOf(options)), ['default'])
  t.is((await jsonOf(t, ['new', '--json', '--node-offset', '1', '--epoch', '2020-01-01'], options))[0].parts.id, 1)
  await fails(t, ['new', '--epoch', '2020-01-01'], /^flakeforge: Group 'new-.*' has /, options)
  await flake.close()
})

test('with a node number, no slot is taken and no folder is created', async (t) => {
  const options = fresh(t)
  for (const args of [
    ['--id', '5'],
    ['--worker', '5'],
    ['--layout', 'hazelcast', '--node', '5'],
  ]) {
    t.is((await jsonOf(t, ['new', '--json', ...args], options))[0].parts.id, 5)
  }
  for (const env of [{ FLAKEFORGE_ID: '5' }, { FLAKEFORGE_WORKER: '5' }]) {
    t.is((await jsonOf(t, ['new', '--json'], { env: { ...options.env, ...env } }))[0].parts.id, 5)
  }
  t.deepEqual(fs.readdirSync(options.env.XDG_STATE_HOME), [])
})

test('--shared: several commands with one node number and one cursor', async (t) => {
  const file = path.join(diskFolder(t), 'cursor')
  const args = ['new', '50000', '--as', 'dec', '--id', '9', '--shared', file]
  const outputs = await Promise.all([1, 2].map(() => linesOf(t, args)))
  t.is(new Set(outputs.flat()).size, 100_000)
  t.is(layouts.flake.decode(outputs[0][0]).id, 9)
})

test('a layout without a node field: the error says that no slot can keep its IDs unique', async (t) => {
  const spec = '{"fields":[["timestamp",50],["counter",14]]}'
  const { code, stderr } = await run(['new', '--layout', spec, '--as', 'dec'], fresh(t))
  t.is(code, 0)
  t.regex(stderr, /^flakeforge: This layout has no node field.*--shared[^\n]*\n$/)
  const file = path.join(diskFolder(t), 'cursor')
  t.is((await linesOf(t, ['new', '2', '--layout', spec, '--as', 'dec', '--shared', file])).length, 2)
})

test('contradicting options are rejected', async (t) => {
  await isRefused(t, ['new', '--id', '5', '--store', 'x'], /--store .* with --id no slot is taken/)
  await isRefused(t, ['new', '--shared', 'x', '--group', 'g'], /--group .* with --shared/)
  await isRefused(t, ['new', '--group', 'a{b'], /--group must be/)
})

test('in a container: IDs, and on stderr how far they are unique and which store to name', async (t) => {
  const options = { ...fresh(t), isContainer: true }
  const { code, stdout, stderr } = await run([], options)
  t.is(code, 0)
  t.is(stdout.match(/^0x/gm).length, 3)
  t.regex(stderr, /^flakeforge: Node number 0 is unique only in this container [^\n]*\n$/)
  for (const wayOut of ['--store', 'FLAKEFORGE_STORE', '--id', folderOf(options)])
    t.true(stderr.includes(wayOut), wayOut)
  const env = { ...options.env, FLAKEFORGE_STORE: diskFolder(t) }
  t.is((await run(['new', '--as', 'dec'], { ...options, env })).stderr, '', 'with a store there is no message')
  t.is((await run(['--id', '5'], options)).stderr, '')
})

test('an unusable default folder: the error names the reason and the ways out', async (t) => {
  const file = path.join(diskFolder(t), 'file')
  fs.writeFileSync(file, '')
  const said = await fails(t, ['new'], /is no folder|not a folder/i, { env: { XDG_STATE_HOME: file } })
  for (const wayOut of ['--store', '--id']) t.true(said.includes(wayOut), wayOut)
  await isRefused(t, ['new'], /home folder/, { env: { HOME: '', XDG_STATE_HOME: undefined } })
})
