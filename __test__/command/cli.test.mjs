// The command as users run it: in a separate process, its JSON compared with the results of the API.

import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import test from 'ava'
import { fails, isRefused, jsonOf, linesOf, run, start } from '../support/command.mjs'
import { DIALECTS } from '../support/dialects.mjs'
import { FlakeId } from '../support/index.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { Layout, format, layouts, toBigInt, toSigned } = FlakeId
const DISCORD = '175928847299117063'
const ESCAPE = '\u001b['

test('without arguments: three IDs with their fields', async (t) => {
  const lines = await linesOf(t, [])
  const ids = lines.filter((line) => line.startsWith('0x'))
  t.is(ids.length, 3, lines.join('\n'))
  for (const line of ids) {
    const [hex, dec] = line.split('  ')
    t.is(BigInt(hex), BigInt(dec))
    t.is(hex.length, 18)
    const { datacenter, worker, counter } = layouts.flake.decode(dec) // of any free slot
    const fields = new RegExp(`timestamp \\S+Z +datacenter ${datacenter} +worker ${worker} +counter ${counter}$`)
    t.true(fields.test(lines[lines.indexOf(line) + 2]), lines.join('\n'))
  }
})

for (const [as, pattern, read] of [
  ['hex', /^0x[\da-f]{16}$/, BigInt],
  ['dec', /^\d+$/, BigInt],
  ['bin', /^[01]{64}$/, (line) => BigInt(`0b${line}`)],
  ['base32', /^[\dA-Z]{13}$/, (line) => toBigInt(FlakeId.parse(line, 'base32'))],
  ['json', /^\{.*\}$/, (line) => BigInt(JSON.parse(line).dec)],
]) {
  test(`new --as ${as}: one ID per line, of the requested layout and node`, async (t) => {
    const before = Date.now()
    const lines = await linesOf(t, ['new', '-n', '5', '--layout', 'hazelcast', '--node', '7', '--as', as])
    t.is(lines.length, 5)
    const ids = lines.map((line) => {
      t.regex(line, pattern)
      return read(line)
    })
    t.deepEqual(ids, [...new Set(ids)].sort())
    const { node, timestamp } = layouts.hazelcast.decode(ids[0])
    t.is(node, 7)
    t.true(timestamp >= before && timestamp <= Date.now())
  })
}

test('new generates more IDs than a batch holds, all different', async (t) => {
  const lines = await linesOf(t, ['20000', '--as', 'dec', '--id', '295'])
  t.is(new Set(lines).size, 20_000)
  t.like(layouts.flake.decode(lines[19_999]), { datacenter: 9, worker: 7 })
})

test('new accepts your own layout, an epoch, nodes and a mode', async (t) => {
  const spec = { fields: Object.entries({ timestamp: 41, shard: 13, counter: 10 }) }
  const choices = ['--shard', '5', '--epoch', '2020-01-01']
  const [own] = await jsonOf(t, ['new', '--layout', JSON.stringify(spec), ...choices, '--json'])
  const layout = new Layout({ ...spec, epoch: Date.UTC(2020, 0) })
  t.is(layout.decode(own.dec).shard, 5)
  t.is(own.parts.timestamp, layout.decode(own.dec).timestamp)
  const [snowcast] = await jsonOf(t, ['new', '--layout=snowcast', '--nodes=128', '--node=127', '--json'])
  t.is(new Layout('snowcast', { nodes: 128 }).decode(snowcast.dec).node, 127)
  const [uniqueid] = await jsonOf(t, ['new', '--layout=uniqueid', '--mode=sequential', '--generator=5', '--json'])
  t.like(layouts.uniqueid.decode(uniqueid.dec), { mode: 'sequential', generator: 5 })
})

test('new shows the digits of a decimal layout', async (t) => {
  const [heading, digits, labels] = await linesOf(t, ['new', '1', '--layout', 'chronicle', '--host', '28'])
  t.regex(digits, /^ {2}\d{17} +28$/)
  t.is(digits.replaceAll(' ', ''), heading.split('  ')[1])
  t.regex(labels, /timestamp \S+Z host 28/)
})

const ID = toBigInt('0xcafebabedeadbeef') // above 2^63, so that its signed form differs
const BYTES = Buffer.from('cafebabedeadbeef', 'hex')
const PAIRS = 'ca fe ba be de ad be ef'
const FORMS = [
  [String(ID)],
  [`${ID}n`],
  [`"${ID}"`],
  ['0xcafebabedeadbeef'],
  ['0xCAFEBABEDEADBEEF'],
  ['cafebabedeadbeef'],
  [`0b${format(ID, 'bin')}`],
  [format(ID, 'bin')],
  [format(ID, 'base32')],
  [format(ID, 'base32').toLowerCase()],
  [BYTES.toString('base64')],
  [BYTES.toString('base64url')],
  [`<Buffer ${PAIRS}>`],
  ['<Buffer', ...PAIRS.split(' ').slice(0, 7), 'ef>'],
  [PAIRS],
  PAIRS.split(' '),
  [String(toSigned(ID))],
]

for (const form of FORMS) {
  test(`inspect reads ${form.join(' | ')}`, async (t) => {
    const [shown] = await jsonOf(t, ['inspect', ...form, '--layout', 'flake', '--json'])
    t.is(shown.dec, String(ID))
    t.is(shown.signed, String(toSigned(ID)))
    t.is(shown.base32, format(ID, 'base32'))
    const { tick, ...parts } = layouts.flake.decode(ID)
    t.deepEqual(shown.parts, { ...JSON.parse(JSON.stringify(parts)), tick: String(tick) })
  })
}

test('inspect reads a time with nine digits', async (t) => {
  const [shown] = await jsonOf(t, ['inspect', '2021-12-28T14:07:02.954100128', '--json'])
  t.like(shown, { dec: '1640700422954100128', layout: 'chronicle', form: 'time' })
  t.is(shown.parts.host, 28)
})

test('inspect says how it read an ambiguous ID', async (t) => {
  const [shown] = await jsonOf(t, ['inspect', '1640700422954228', '--json'])
  t.like(shown, { form: 'dec', layout: 'chronicle-micros' })
  t.regex(shown.note, /read as decimal.*hex.*0x/)
  const [hex] = await jsonOf(t, ['inspect', '0x1640700422954228', '--json'])
  t.is(hex.dec, String(0x1640700422954228n))
  t.is(hex.note, undefined)
})

const fresh = (options) => new FlakeId(options).nextString()

for (const [layout, id] of [
  ['discord', DISCORD],
  ['twitter', '1541815603606036480'],
  ['chronicle', '1640700422954100128'],
  ['flake', fresh({ datacenter: 9, worker: 7 })],
  ['hazelcast', fresh({ layout: 'hazelcast', node: 7 })],
  ['sonyflake', fresh({ layout: 'sonyflake', machine: 0xc0a8 })],
  ['discord', fresh({ layout: 'discord', worker: 1 })],
  ['uniqueid', fresh({ layout: 'uniqueid', generator: 40 })],
  ['safe', fresh({ layout: 'safe', node: 9 })],
]) {
  test(`inspect without a layout: ${id} is ${layout}'s`, async (t) => {
    const [shown] = await jsonOf(t, ['inspect', id, '--json'])
    t.is(shown.layout, layout)
    t.is(shown.parts.timestamp, layouts[layout].decode(id).timestamp)
    t.is(shown.readings[0].layout, layout)
    t.true(shown.readings[0].why.length > 10)
  })
}

test('inspect shows the best reading in full and each of the others on one line', async (t) => {
  const lines = await linesOf(t, ['inspect', DISCORD])
  t.is(lines[0], `0x0271065ac1020007  ${DISCORD}`)
  t.regex(lines[1], /^ {2}discord: .*epoch 2015-01-01/)
  t.is(lines[2].replaceAll(' ', ''), format(toBigInt(DISCORD), 'bin'))
  t.regex(lines[3], /worker 1 +process 0 +counter 7/)
  t.regex(lines[4], /2016-04-30T11:18:25\.796Z, \d+ years ago/)
  const others = lines.slice(6).map((line) => line.trim().split(/\s+/)[0])
  t.deepEqual(
    others.sort(),
    Object.keys(layouts)
      .filter((name) => name !== 'discord')
      .sort(),
  )
})

test('inspect prints one line for an ID from stdin', async (t) => {
  const { code, stdout } = await run(['inspect'], { input: `${DISCORD}\n1541815603606036480\n` })
  t.is(code, 0)
  const [discord, twitter, end] = stdout.split('\n')
  t.is(discord, `${DISCORD}    discord  2016-04-30T11:18:25.796Z  counter 7  worker 1  process 0`)
  t.is(twitter, '1541815603606036480   twitter  2022-06-28T16:07:40.105Z  counter 0  datacenter 11  worker 26')
  t.is(end, '')
})

test('a time that does not fit a Date is marked', async (t) => {
  const layout = '{"fields":[["timestamp",63],["counter",1]]}'
  const lines = await linesOf(t, ['inspect', '18446744073709551615', '--layout', layout])
  t.regex(lines.join(' '), /beyond what a Date can hold/)
})

test('inspect has output for every possible ID', async (t) => {
  const last = 2n ** 64n
  for (const id of [0n, 1n, 2n ** 63n - 1n, 2n ** 63n, last - 17n, last - 16n, last - 1n]) {
    const lines = await linesOf(t, ['inspect', String(id)])
    t.is(
      lines.filter((line) => line.startsWith('    ')).length,
      DIALECTS.length - 1,
      `${id}: all other systems in a line each`,
    )
  }
})

test('inspect: a value too large for safe is shown in bits', async (t) => {
  const [zero] = (await linesOf(t, ['inspect', String(2n ** 53n)])).filter((line) => line.startsWith('    safe'))
  t.regex(zero, /impossible: its top 11 bits are always 0, and here they are not$/)
  const [most] = (await linesOf(t, ['inspect', String(2n ** 53n - 1n)])).filter((line) => line.startsWith('    safe'))
  t.regex(most, /2089-09-06.*it would be in the future$/)
})

test('inspect names the mode of a layout whose IDs do not contain it', async (t) => {
  const id = String(
    toBigInt(new Layout('flake', { mode: 'spread' }).encode({ timestamp: Date.UTC(2026, 0), worker: 7 })),
  )
  const lines = await linesOf(t, ['inspect', id, '--layout', 'flake', '--mode', 'spread'])
  t.regex(
    lines.join('\n'),
    /^ {2}timestamp 2026-01-01T00:00:00\.000Z, mode spread +datacenter 0 +worker 7 +counter 0$/m,
  )
  const plain = await linesOf(t, ['inspect', id, '--layout', 'flake'])
  t.notRegex(plain.join(), /spread/)
  const uniqueid = await linesOf(t, ['inspect', '7928662235423965185', '--layout', 'uniqueid'])
  t.is(uniqueid.join().match(/mode spread/g).length, 1)
  const wanted = /in mode 'spread', whose IDs are not ordered by time\. Select rows by a separate column with the time/
  await isRefused(t, ['at', '2026-01-01', '--mode', 'spread'], wanted)
})

test('inspect with a layout accepts its options', async (t) => {
  const args = ['inspect', '44368455009519617', '--layout', 'snowcast', '--epoch', '1388534400000', '--json']
  const [shown] = await jsonOf(t, args)
  t.like(shown.parts, { date: '2014-03-03T05:12:12.000Z', node: 1234, counter: 1 })
  t.is(shown.readings, undefined)
})

test('inspect reads 20 000 lines of stdin, and reports the bad ones by line number', async (t) => {
  const ids = Array.from(new FlakeId({ id: 5, maxWaitMs: 10_000 }).takeBigInts(20_000), String)
  const input = [...ids]
  input[6] = 'no ID'
  input[12_345] = '99999999999999999999'
  input[300] = ''
  const { code, stdout, stderr } = await run(['inspect', '--json', '--layout', 'flake'], { input: input.join('\r\n') })
  t.is(code, 1)
  const [first, second, ...more] = stderr.trimEnd().split('\n')
  t.regex(first, /^flakeforge: line 7: 'no ID' is not an ID/)
  t.regex(second, /^flakeforge: line 12346: '99999999999999999999' is not an ID/)
  t.deepEqual(more, [])
  const shown = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).dec)
  t.deepEqual(
    shown,
    ids.filter((_, i) => ![6, 300, 12_345].includes(i)),
  )
})

test('inspect continues after a bad argument', async (t) => {
  const { code, stdout, stderr } = await run(['inspect', 'xyz', DISCORD, '--json'])
  t.is(code, 1)
  t.is(JSON.parse(stdout).dec, DISCORD)
  t.regex(stderr, /^flakeforge: 'xyz' is not an ID/)
})

test('at prints the bounds of Layout.range', async (t) => {
  const [shown] = await jsonOf(t, ['at', '2026-11-20', '2026-11-20T12:00', '--layout', 'discord', '--json'])
  const { min, max } = layouts.discord.range(Date.UTC(2026, 10, 20), Date.UTC(2026, 10, 20, 12))
  t.is(shown.min.dec, format(min))
  t.is(shown.max.dec, format(max))
  t.is(shown.where, `WHERE id BETWEEN ${format(min)} AND ${format(max)}`)
  const lines = await linesOf(t, ['at', '1700000000000'])
  t.is(lines.at(-1), 'WHERE id BETWEEN 7130316800000000000 AND 7130316800004194303')
})

test('at as text: the time or both times, and the values of a signed column where they differ', async (t) => {
  const [heading, min, max, where, signed] = await linesOf(t, ['at', '2100-01-01', '2100-01-02'])
  t.is(heading, 'flake, 2100-01-01T00:00:00.000Z to 2100-01-02T00:00:00.000Z')
  const { min: from, max: to } = layouts.flake.range(Date.UTC(2100, 0, 1), Date.UTC(2100, 0, 2))
  t.is(min, `  min  0x${format(from, 'hex')}  ${format(from)}  signed ${toSigned(from)}`)
  t.is(max, `  max  0x${format(to, 'hex')}  ${format(to)}  signed ${toSigned(to)}`)
  t.is(where, `WHERE id BETWEEN ${format(from)} AND ${format(to)}`)
  t.is(signed, `WHERE id BETWEEN ${toSigned(from)} AND ${toSigned(to)} -- in a signed column`)

  const lines = await linesOf(t, ['at', '2020-01-01'])
  t.is(lines[0], 'flake, 2020-01-01T00:00:00.000Z')
  t.is(lines.length, 4)
  t.notRegex(lines.join('\n'), /signed/)
})

test('at keeps all digits of a time, and an end covers its last digit', async (t) => {
  const id = 1640700422954100128n
  const at = async (layout, ...dates) => {
    const [{ min, max, from, to }] = await jsonOf(t, ['at', ...dates, '--layout', layout, '--json'])
    return { min: BigInt(min.dec), max: BigInt(max.dec), from, to }
  }
  for (const text of ['2021-12-28T14:07:02.954100128', '2021-12-28T15:07:02.954100128+01:00', '1640700422954.100128'])
    t.deepEqual(await at('chronicle', text), {
      min: 1640700422954100100n,
      max: 1640700422954100199n,
      from: '2021-12-28T14:07:02.954100128Z',
      to: '2021-12-28T14:07:02.954100128Z',
    })
  const day = await at('chronicle', '2021-12-28', '2021-12-28T23:59:59.999Z')
  t.is(day.max + 1n, (await at('chronicle', '2021-12-29')).min, 'the range covers the whole day')
  t.true(day.min < id && id < day.max)
  const ms = await at('chronicle', '1640700422954')
  t.deepEqual([ms.min, ms.max], [1640700422954000000n, 1640700422954999999n])
  const tenth = await at('chronicle-micros', '1666392005494.4')
  t.deepEqual([tenth.min, tenth.max], [1666392005494400n, 1666392005494499n])
  const [{ min, max }] = await jsonOf(t, ['at', '--epoch', '-5', '--json', '--', '-0.3', '-0.3'])
  t.is(min.dec, String(4n << 22n), '-0.3 is in the ms that starts at -1')
  t.is(max.dec, String((5n << 22n) - 1n))
})

test("at clips a range to the layout's, and rejects one that is entirely outside", async (t) => {
  const { epoch, end } = layouts.discord
  const [from, to] = [epoch, end.getTime() - 1].map((ms) => toBigInt(layouts.discord.range(ms).min))
  for (const [dates, min, max] of [
    [['2010-01-01', '2015-01-01'], from, from + 2n ** 22n - 1n],
    [['1970-01-01', '4000-01-01'], from, to + 2n ** 22n - 1n],
    [['0', 'now'], from, undefined],
  ]) {
    const [shown] = await jsonOf(t, ['at', ...dates, '--layout', 'discord', '--json'])
    t.is(shown.min.dec, String(min))
    if (max !== undefined) t.is(shown.max.dec, String(max))
  }
  for (const [dates, message] of [
    [
      ['2010-01-01'],
      /DATE 2010-01-01T00:00:00\.000Z is before the epoch 2015-01-01T00:00:00\.000Z \(\d+\) of layout 'discord'/,
    ],
    [['2010-01-01', '2014-12-31'], /DATE 2014-12-31T00:00:00\.\d+Z is before the epoch 2015/],
    [['3000-01-01', '4000-01-01'], /DATE 3000-01-01T\S+Z is too late for layout 'discord', which ends at 2154/],
  ]) {
    const { code, stdout, stderr } = await run(['at', ...dates, '--layout', 'discord'])
    t.deepEqual([code, stdout], [1, ''])
    t.regex(stderr, message)
    t.notRegex(stderr, /clock|from,|Unix ms/)
  }
})

test('at prints signed bounds where they differ, and two comparisons where they wrap around', async (t) => {
  const [after] = await jsonOf(t, ['at', '2040-01-01', '--json'])
  t.is(after.min.signed, String(toSigned(layouts.flake.range(Date.UTC(2040, 0)).min)))
  t.is(after.whereSigned, `WHERE id BETWEEN ${after.min.signed} AND ${after.max.signed}`)
  const end = layouts.flake.signedEnd.getTime()
  const [around] = await jsonOf(t, ['at', String(end - 1), String(end), '--json'])
  t.is(around.whereSigned, `WHERE (id >= ${around.min.signed} OR id <= ${around.max.signed})`)
  t.true(BigInt(around.max.signed) < 0n)
})

test('an offset of IDs, also a negative one, is an option wherever a layout is, and an offset of nodes is one of new', async (t) => {
  for (const idOffset of [1_000_000_007n, -5n]) {
    const layout = new Layout('hazelcast', { idOffset })
    const own = ['--layout', 'hazelcast', '--id-offset', String(idOffset), '--json']
    const [{ dec, parts }] = await jsonOf(t, ['new', '1', '--node', '7', '--node-offset', '-2', ...own])
    t.is(layout.decode(dec).node, 5)
    t.is(parts.node, 5)
    t.is((await jsonOf(t, ['inspect', dec, ...own]))[0].parts.timestamp, parts.timestamp)
    const [{ min }] = await jsonOf(t, ['at', String(parts.timestamp), ...own])
    t.is(min.dec, String(toBigInt(layout.range(parts.timestamp).min)))
  }
})

test("a negative number is accepted as an option's value", async (t) => {
  const [{ from }] = await jsonOf(t, ['at', '0', '--epoch', '-5', '--json'])
  t.is(from, '1970-01-01T00:00:00.000Z')
  await isRefused(t, ['new', '--id', '-5'], /--id must be .*-5/)
})

test('at takes every DATE of 1970 as it is written, without a doubt about its unit', async (t) => {
  for (const [date, ms] of [
    ['1970-01-01T00:00:00.0001', 0],
    ['1970-01-01T00:00:01', 1000],
    ['1970-01-01T00:30:00', 1_800_000],
    ['1970-01-01T00:30:00.1234', 1_800_123],
    ['1970-01-21', 1_728_000_000],
  ]) {
    const [{ min }] = await jsonOf(t, ['at', date, '--epoch', '-5', '--json'])
    t.is(BigInt(min.dec) >> 22n, BigInt(ms) + 5n, date)
  }
})

test('layouts lists every layout as the API describes it', async (t) => {
  const shown = await jsonOf(t, ['layouts', '--json'])
  t.deepEqual(
    shown.map(({ name }) => name),
    Object.keys(layouts),
  )
  for (const { name, epoch, fields, end, signedEnd } of shown) {
    const layout = layouts[name]
    t.deepEqual({ epoch, fields }, { epoch: layout.epoch, fields: layout.fields.map((field) => [...field]) })
    t.deepEqual([end, signedEnd], [layout.end.toISOString(), layout.signedEnd.toISOString()])
  }
  t.like(shown[1], { tickMs: 1, maxAheadMs: 15_000, maxWaitMs: 1000 })
  const table = await linesOf(t, ['layouts'])
  t.is(table.length, 2 * (shown.length + 1), 'two tables, each with a heading')
  for (const line of table) t.true(line.length <= 100, line)
  for (const [i, { name, epoch, fields }] of shown.entries()) {
    t.true(table[i + 1].startsWith(`${name} `))
    for (const field of fields) t.true(table[i + 1].includes(field.join(' ')), name)
    t.true(table[i + 2 + shown.length].startsWith(`${name} `))
    t.true(table[i + 2 + shown.length].includes(new Date(epoch).toISOString()))
  }
})

for (const [args, message] of [
  [['nwe'], /Unknown command 'nwe'\. Did you mean 'new'\?/],
  [['inspct', '5'], /Did you mean 'inspect'\?/],
  [['version'], /Did you mean '--version'\?/],
  [['--verison'], /Did you mean '--version'\?/],
  [['zebra'], /Unknown command 'zebra'\. Run 'flakeforge help'/],
  [['5x'], /Unknown command '5x'/],
  [['help', 'slts'], /Unknown command 'slts'\. Did you mean 'slots'\?/],
  [['--wroker', '1'], /Unknown option '--wroker'\. Did you mean '--worker'\?/],
  [['new', '--wroker=1'], /Unknown option '--wroker'\. Did you mean '--worker'\?/],
  [['inspect', '5', '--jsn'], /Unknown option '--jsn'\. Did you mean '--json'\?/],
  [['inspect', '5', '--zebra'], /Unknown option '--zebra'\. Run 'flakeforge inspect --help'/],
  [['inspect', '5', '-x'], /Unknown option '-x'/],
  [
    ['new', '--layout', 'hazelcast', '--worker', '3'],
    /'--worker' here\. It is a node field of layout flake, twitter, discord/,
  ],
  [['new', '5', '6'], /one N, not 5 and 6/],
  [['new', '5', '-n', '6'], /one N, not 5 and -n 6/],
  [['new', '-n', '-5'], /N must be the number of IDs to generate, not '-5'/],
  [['175928847299117063'], /999999999 at most.* run 'flakeforge inspect 175928847299117063'/],
  [['new', '5', '--as', 'roman'], /--as must be one of dec, hex/],
  [['new', '--node', '3'], /Did you mean '--nodes'\?/],
  [['--worker', '32'], /--worker must be an integer from 0 to 31, but is '32'/],
  [['new', '--id', '5', '--id', '6'], /--id is given twice/],
  [['new', '-x'], /Unknown option '-x'\. Run 'flakeforge new --help' for a list/],
  [['new', '--json=yes'], /--json takes no value, so leave out 'yes'/],
  [['new', '--layout', 'nope'], /flake.*sonyflake/],
  [['new', '--layout', '{"fields"'], /--layout is not valid JSON/],
  [['new', '--layout', '{"fields":[["timestamp",41]]}'], /64/],
  [['new', '--layout'], /--layout needs a value, as in '--layout NAME'/],
  [['new', '--layout', '--json'], /--layout needs a value/],
  [['new', '--epoch', 'soon'], /--epoch must be ISO text/],
  [['inspect', '5', '--epoch', '0'], /--epoch changes a layout.* with --layout/],
  [['inspect', '5', '--id-offset', '5'], /--id-offset changes a layout/],
  [['new', '--id-offset', '5n'], /--id-offset must be an integer/],
  [['new', '--id-offset'], /--id-offset needs a value/],
  [['at', 'now', '--node-offset', '5'], /Unknown option '--node-offset'/],
  [['at'], /one DATE or two, not 0/],
  [['at', '2026'], /'2026' looks like a year. Give 2026-01-01T00:00:00.000Z or 1767225600000/],
  [['at', '20261120'], /'20261120' looks like a date. Give 2026-11-20T00/],
  [['at', '1780000000'], /'1780000000' looks like seconds. Give 2026-05-28T20:26:40.000Z/],
  [['at', '1780000000000000'], /looks like microseconds/],
  [['new', '--epoch', '2020'], /--epoch must be .*'2020' looks like a year/],
  [['new', '--epoch', '1577836800'], /--epoch must be .*looks like seconds. Give 2020-01-01T00:00:00.000Z/],
  [['new', '--epoch', '20200101'], /--epoch must be .*looks like a date/],
  [['at', '2021-12-28T14:07:02.9541001281'], /DATE must be ISO text/],
  [['at', '2026-02-30'], /DATE must be ISO text/],
  [['at', '2026-01-02', '2026-01-01'], /second DATE must be the first one or later/],
  [['at', 'now', '--layout', 'uniqueid'], /ordered by time/],
  [['layouts', 'flake'], /takes no argument/],
  [['schema', 'public'], /but not for 'public'/],
]) {
  test(`rejected: ${args.join(' ')}`, (t) => isRefused(t, args, message))
}

for (const [args, message] of [
  [['inspect', 'xyz'], /'xyz' is not an ID/],
  [['inspect', '18446744073709551616'], /is not an ID/],
  [['inspect', '--', '-9223372036854775809'], /'-9223372036854775809' is not an ID/],
  [['inspect', '--', '--help'], /'--help' is not an ID/],
  [['inspect', '1'.repeat(80)], /'1{60}…' is not an ID/],
  [['inspect', '0xffffffffffffffff', '--layout', 'twitter'], /a bit that must be 0 is set/],
  [['new', '--id', '5', '--epoch', '-8640000000000000'], /too late for layout/],
]) {
  test(`fails: ${args.join(' ')}`, (t) => fails(t, args, message))
}

test('--version and -v print the version of the package', async (t) => {
  const { version } = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url)))
  for (const flag of ['--version', '-v']) {
    t.deepEqual(await linesOf(t, [flag]), [version])
    for (const args of [
      [flag, '--json'],
      ['--json', flag],
    ])
      t.deepEqual(JSON.parse((await linesOf(t, args)).join('\n')), { version })
  }
})

const COMMANDS = fs
  .readdirSync(new URL('../../bin/commands', import.meta.url))
  .map((file) => file.replace('.ts', ''))
  .sort()

test('help lists every command, in lines of at most 80 columns', async (t) => {
  const lines = await linesOf(t, ['help'])
  t.deepEqual(await linesOf(t, ['--help']), lines)
  t.deepEqual(await linesOf(t, ['-h']), lines)
  t.deepEqual(await linesOf(t, ['at', '--zebra', '-h']), await linesOf(t, ['help', 'at']), 'before the wrong argument')
  const named = lines.map((line) => /^ {2}([\w-]+)(?: .*)? {2,}\w/.exec(line)?.[1])
  for (const name of COMMANDS) t.true(named.includes(name), name)
  for (const line of lines) t.true(line.length <= 80, line)
})

for (const name of COMMANDS) {
  test(`help ${name} prints what --help prints, with every option and an example`, async (t) => {
    const lines = await linesOf(t, ['help', name])
    t.true(lines[0].startsWith(`usage: flakeforge ${name} `), lines[0])
    t.deepEqual(await linesOf(t, [name, '--help']), lines)
    for (const line of lines) t.true(line.length <= 80, line)
    const { options } = require(`../../target/rooms/bin/commands/${name}.js`)
    const text = lines.join('\n')
    for (const option of [...Object.keys(options), 'json']) {
      t.regex(text, new RegExp(`^  (?:-\\w, )?--?${option}(?: \\S+)?  `, 'm'), option)
    }
    const examples = lines.slice(lines.indexOf('Examples:') + 1).filter((line) => /^ {2}\S/.test(line))
    t.true(examples.length > 0 && examples.every((line) => line.includes(`flakeforge ${name}`)))
  })
}

test('no colours in a pipe or with NO_COLOR, colours with FORCE_COLOR', async (t) => {
  const plain = await linesOf(t, ['inspect', DISCORD])
  t.false(plain.join().includes(ESCAPE))
  t.false((await linesOf(t, ['inspect', DISCORD], { env: { NO_COLOR: '1' } })).join().includes(ESCAPE))
  t.false((await linesOf(t, ['inspect', DISCORD], { env: { FORCE_COLOR: '0' } })).join().includes(ESCAPE))
  const coloured = await linesOf(t, ['inspect', DISCORD], { env: { FORCE_COLOR: '1' } })
  t.true(coloured.join().includes(ESCAPE))
  const spaceless = (lines) => stripVTControlCharacters(lines.join()).replaceAll(' ', '')
  t.is(spaceless(coloured), spaceless(plain))
})

test('a reader that stops early is not an error', async (t) => {
  const { code, signal, stderr } = await run(['new', '-n', '999999999', '--as', 'dec'], { stopAfter: 100 })
  t.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
})

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('an unwritable stdout fails with one sentence, without a stack', async (t) => {
  const full = fs.openSync('/dev/full', 'w')
  t.teardown(() => fs.closeSync(full))
  for (const args of [['5'], ['new', '20000', '--as', 'dec'], ['layouts']]) {
    const child = start(args, { stdio: ['ignore', full, 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (text) => {
      stderr += text
    })
    const [code] = await once(child, 'close')
    t.is(code, 1)
    t.regex(stderr, /^flakeforge: [^\n]*no space left[^\n]*\n$/)
  }
})

test('a bug is not reported as a mistake of the user: the output has the stack, and where to report it', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flakeforge-bug-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const broken = path.join(folder, 'broken.cjs')
  fs.writeFileSync(broken, "Date.prototype.toISOString = () => { throw new TypeError('broken on purpose') }\n")
  const { code, stderr } = await run(['layouts'], { env: { NODE_OPTIONS: `--require ${broken}` } })
  t.is(code, 1)
  const { bugs } = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url)))
  t.true(stderr.startsWith('flakeforge: This is a bug in flakeforge.') && stderr.includes(bugs), stderr)
  t.regex(stderr, /TypeError: broken on purpose\n {4}at /)
})

test('a command that ends before its work is done does not look successful', async (t) => {
  const preload = path.join(import.meta.dirname, '..', 'workers', 'never-written.cjs')
  const { code, stdout, stderr } = await run(['layouts'], { env: { NODE_OPTIONS: `--require=${preload}` } })
  t.deepEqual([code, stdout], [1, ''])
  t.regex(stderr, /nothing left to wait for, but the command was not done/)
})
