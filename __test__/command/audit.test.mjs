// `flakeforge audit` on tables of public packages that were run wrongly on purpose, and on tables that are right. What a
// table holds is counted here, without the code under test.

import { fork } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { text as textOfStream } from 'node:stream/consumers'
import { Snowflake } from '@sapphire/snowflake'
import test from 'ava'
import FlakeIdgen from 'flake-idgen'
import { Worker as UuidWorker } from 'snowflake-uuid'
import { compute, isRefused, run } from '../support/command.mjs'
import { dialect } from '../support/dialects.mjs'
import { FlakeId } from '../support/index.mjs'
import { once } from '../support/waits.mjs'

const require = createRequire(import.meta.url)
const { Layout, format, layouts } = FlakeId
const TIME = Date.UTC(2026, 5, 1)
const DISCORD_EPOCH = 1420070400000

/** The clock of the packages: all of them ask Date.now(). */
const realNow = Date.now
function at(ms, work) {
  Date.now = () => ms
  try {
    return work()
  } finally {
    Date.now = realNow
  }
}

/** The IDs of `count` calls, with a clock that advances by `step` ms after each `perTick` of them. */
function made(make, { count = 2000, from = TIME, step = 1, perTick = 3 } = {}) {
  return Array.from({ length: count }, (_, i) => at(from + Math.floor(i / perTick) * step, () => BigInt(make(i))))
}

const nextOf = (flake) => () => flake.next().readBigUInt64BE()

let files = 0

/** Runs the audit of these lines. */
function audited(t, lines, args = []) {
  const file = path.join(t.context.folder, `${++files}.txt`)
  fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
  return auditedFile(t, file, args)
}

/** Runs the audit of a file: it computes and prints, so a shared process is enough. */
async function auditedFile(t, file, args) {
  const { code, stdout, stderr } = await compute(['audit', '--json', ...args, file])
  t.is(stderr, '')
  const report = JSON.parse(stdout)
  t.is(code, report.findings.length > 0 ? 1 : 0)
  return { ...report, of: Object.fromEntries(report.findings.map((finding) => [finding.kind, finding])) }
}

const kindsOf = ({ findings }) => findings.map(({ kind }) => kind)

/** IDs that come more than once, with their lines, the smallest first. */
function repeatedIn(lines) {
  const places = new Map()
  lines.forEach((id, i) => {
    places.set(id, [...(places.get(id) ?? []), i + 1])
  })
  return [...places].filter(([, all]) => all.length > 1).sort(([a], [b]) => (a < b ? -1 : 1))
}

const interleaved = (a, b) => a.flatMap((id, i) => [id, b[i]])

// --- run wrongly on purpose ---

test('two flake-idgen with one worker: every equal ID with its lines, and the node', async (t) => {
  const [one, other, third] = [3, 3, 4].map((worker) => made(nextOf(new FlakeIdgen({ worker })), { perTick: 2 }))
  const table = [...interleaved(one, other.slice(0, 500).concat(third.slice(500)))]
  const report = await audited(t, table, ['--layout', 'flake'])
  const expected = repeatedIn(table)
  t.is(expected.length, 500)
  t.deepEqual(kindsOf(report), ['equal'])
  t.deepEqual(
    report.of.equal.equal,
    expected.map(([id, lines]) => ({ id: String(id), count: 2, lines })),
  )
  t.is(report.of.equal.equalLeftOut, 0)
  t.deepEqual(report.of.equal.nodes, [3])
  t.like(
    report.nodes.find(({ id }) => id === 3),
    { ids: 2500, repeated: 500, mostInTick: 2 },
  )
  t.like(
    report.nodes.find(({ id }) => id === 4),
    { ids: 1500, repeated: 0, parts: { datacenter: 0, worker: 4 } },
  )
})

/** The IDs of two processes of flake-idgen with one worker, for 100 ms at the same time. */
async function ofTwoProcesses() {
  const children = [0, 1].map(() => fork(MAKER, ['100', '7'], { silent: true }))
  await Promise.all(children.map((child) => once(child, 'message')))
  for (const child of children) child.send('go')
  const texts = await Promise.all(children.map(({ stdout }) => textOfStream(stdout)))
  return texts.join('').trim().split('\n')
}
const MAKER = path.join(import.meta.dirname, '..', 'workers', 'flake-idgen.cjs')

test('two processes of flake-idgen with one worker, at the same time', async (t) => {
  let table = await ofTwoProcesses()
  // On a busy machine, both may run only one after the other.
  while (repeatedIn(table).length === 0) table = await ofTwoProcesses()
  const report = await audited(t, table, ['--layout', 'flake'])
  t.is(report.of.equal.count, 2 * repeatedIn(table).length)
  t.deepEqual(report.of.equal.nodes, [7])
})

test('two generators whose counters continue have no equal ID yet, and are found by their counters', async (t) => {
  const [a, b, other] = [0, 1, 2].map(() => new Snowflake(DISCORD_EPOCH))
  for (let i = 0; i < 1700; i++) b.generate()
  const ids = interleaved(
    made(() => a.generate(), { perTick: 2 }),
    made(() => b.generate(), { perTick: 2 }),
  )
  const right = made(() => other.generate({ workerId: 9n }), { perTick: 3 })
  t.is(repeatedIn(ids).length, 0)
  for (const table of [ids, ids.toSorted(), ids.filter((_, i) => i % 40 > 0)]) {
    const report = await audited(t, [...table, ...right], ['--layout', 'discord'])
    t.deepEqual(kindsOf(report), ['interleaved'])
    t.deepEqual(report.of.interleaved.nodes, [1])
  }
})

test('a clock that stepped back while the generator restarted: equal IDs, and where the time goes back', async (t) => {
  const table = [0, 200].flatMap((back) =>
    made((i) => worker(back).nextId(i), { count: 1000, from: TIME + 333 - back, perTick: 3 }),
  )
  const report = await audited(t, table, ['--layout', 'twitter', '--epoch', '2021-01-01'])
  t.deepEqual(kindsOf(report), ['equal'])
  t.is(report.of.equal.count, 2 * repeatedIn(table).length)
  t.is(report.order, 'created')
  t.like(report.hints[0], { kind: 'time-back', node: 37, count: 1 })
  t.regex(report.hints[0].text, /by 533 ms in line 1001:/)

  /** One for each run: `snowflake-uuid` forgets its last time when its process ends. */
  function worker(key) {
    workers[key] ??= new UuidWorker(5n, 1n)
    return workers[key]
  }
})
const workers = {}

test('two workers of snowflake-uuid whose default is 0, in one table', async (t) => {
  const [a, b] = [new UuidWorker(), new UuidWorker()].map((maker) => made(() => maker.nextId(), { perTick: 1 }))
  const epoch = ['--layout', 'twitter', '--epoch', '1609459200000']
  const report = await audited(t, interleaved(a, b), epoch)
  t.is(report.of.equal.count, 4000)
  t.regex(report.of.equal.advice, /repeats rows/) // two generators in lockstep look like a join
  t.deepEqual(kindsOf(await audited(t, a, epoch)), [])
})

test('two epochs in one column: the others are early, and their epoch is named', async (t) => {
  const right = made(nextOf(new FlakeIdgen({ worker: 1 })))
  const wrong = made(nextOf(new FlakeIdgen({ worker: 2, epoch: DISCORD_EPOCH })), { count: 300 })
  const report = await audited(t, [...right, ...wrong], ['--layout', 'flake'])
  t.deepEqual(kindsOf(report), ['early'])
  t.is(report.of.early.count, 300)
  t.true(report.of.early.likely.includes('discord'))
  const ahead = await audited(t, [...wrong, ...right.slice(0, 100)], ['--layout', 'flake', '--epoch', '2015-01-01'])
  t.deepEqual(
    kindsOf(ahead),
    ['beyond', 'future'].filter((kind) => kind in ahead.of),
  )
  t.is((ahead.of.future?.count ?? 0) + (ahead.of.beyond?.count ?? 0), 100)
  t.true((ahead.of.future ?? ahead.of.beyond).likely.includes('flake'))
})

test('two systems in one column, with and without --layout', async (t) => {
  const flake = made(nextOf(new FlakeIdgen({ worker: 1 })), { perTick: 1 })
  const twitter = made(() => twitterMaker.nextId(), { count: 500, perTick: 1 })
  for (const args of [[], ['--layout', 'flake']]) {
    const report = await audited(t, [...flake, ...twitter], args)
    t.is(report.layout, 'flake')
    t.deepEqual(kindsOf(report), ['early'])
    t.is(report.of.early.count, 500)
    t.true(report.of.early.likely.includes('twitter'))
  }
})
const twitterMaker = new UuidWorker(26n, 11n, { epoch: 1288834974657 })

test('numbers that went through JSON.parse: lost digits, whether counters restart or continue', async (t) => {
  const rounded = (id) => BigInt(Number(id))
  const burst = made(nextOf(new FlakeIdgen({ worker: 1 })), { count: 30_000, perTick: 3000 })
  const report = await audited(t, burst.map(rounded), ['--layout', 'flake'])
  t.true(kindsOf(report).includes('lost-digits'))
  t.is(report.of.equal.count, report.ids)
  const snowflake = new Snowflake(DISCORD_EPOCH)
  const slow = made(() => snowflake.generate(), { count: 3000, perTick: 1, step: 7 })
  t.true(kindsOf(await audited(t, slow.map(rounded), ['--layout', 'discord'])).includes('lost-digits'))
  t.deepEqual(kindsOf(await audited(t, slow, ['--layout', 'discord'])), [])
  const few = made(nextOf(new FlakeIdgen({ worker: 1 })), { count: 900, perTick: 3 }).map(rounded)
  t.regex((await audited(t, few, ['--layout', 'flake'])).of.equal.advice, /exactly representable as a double/)
})

test('rounded node numbers: Hazelcast has its node in the last bits', async (t) => {
  const tables = Array.from({ length: 40 }, (_, i) => {
    const flake = new FlakeId({ layout: 'hazelcast', node: 1000 + 77 * i, clock: () => TIME + i })
    return BigInt(Number(flake.nextBigInt()))
  })
  const report = await audited(t, tables, ['--layout', 'hazelcast'])
  t.deepEqual(kindsOf(report), ['lost-digits'])
})

test('IDs from a spreadsheet: zeros after the 15th digit, and 1.5E+18', async (t) => {
  const ids = made(nextOf(new FlakeIdgen({ worker: 1 })), { perTick: 1, count: 200 }).map(String)
  const cells = ids.map((id) => `${id.slice(0, 15)}${'0'.repeat(id.length - 15)}`)
  const report = await audited(t, [...cells, '1.5E+18', '7,53E+18'], ['--layout', 'flake'])
  t.true(kindsOf(report).includes('lost-digits'))
  t.regex(report.of['lost-digits'].text, /200 IDs have only zeros.*2 lines are in a spreadsheet's notation/)
  t.is(report.of.malformed.count, 2)
})

test('bits that are always 0, numbers of a sequence, and IDs of the future', async (t) => {
  const right = made(() => twitterMaker.nextId(), { from: TIME + 1e9, count: 100 })
  const future = layouts.twitter.encode({ timestamp: realNow() + 86_400_000 }).readBigUInt64BE()
  const table = [...right, 2n ** 63n + 5n, '-9223372036854775000', 1, 2, 3, future]
  const report = await audited(t, table, ['--layout', 'twitter'])
  t.deepEqual(kindsOf(report), ['future', 'early', 'beyond'])
  t.deepEqual(
    report.findings.map(({ count }) => count),
    [1, 3, 2],
  )
  t.regex(report.of.early.text, /3 are below 2\^32/)
  t.is(report.negative, 2)
})

// --- tables that are right ---

test('no false alarm: ours at full speed, several generators and threads', async (t) => {
  const flakes = [1, 2, 2, 3].map((worker) => new FlakeId({ worker, maxWaitMs: 100 }))
  const ids = Array.from({ length: 40_000 }, (_, i) => flakes[i % 4].nextBigInt())
  const report = await audited(t, ids, ['--layout', 'flake'])
  t.deepEqual(kindsOf(report), [])
  t.is(report.distinct, 40_000)
  t.deepEqual(report.nodes.map(({ id }) => id).sort(), [1, 2, 3])
})

for (const [name, layout] of Object.entries(layouts)) {
  test(`no false alarm: ${name}, also sampled, shuffled and sorted`, async (t) => {
    let now = TIME
    const nodes = [0, 1, 2].slice(0, dialect(name).nodes)
    const flakes = nodes.map((id) => new FlakeId({ layout, id, clock: () => now, maxAheadMs: 60_000 }))
    const ids = Array.from({ length: 3000 }, (_, i) => {
      now += (i * 7919) % 5
      return flakes[i % flakes.length].nextBigInt()
    })
    const near = ids.map((_, i) => ids[i ^ 5] ?? ids[i]) // as concurrent inserts do
    for (const table of [ids, near, ids.toSorted(), ids.filter((_, i) => (i * 31) % 7 < 3)]) {
      const report = await audited(t, table, ['--layout', name])
      t.deepEqual(kindsOf(report), [])
      const [{ id, ids: count, first }] = report.nodes
      const own = table.map((one) => layout.decode(one)).filter((parts) => parts.id === id)
      t.is(count, own.length)
      t.is(first, new Date(Math.min(...own.map(({ timestamp }) => timestamp))).toISOString())
    }
  })
}

test('no false alarm: batches of Hazelcast, out of order', async (t) => {
  let now = TIME
  const flake = new FlakeId({ layout: 'hazelcast', node: 5, clock: () => now })
  const batches = Array.from({ length: 30 }, () => {
    now += 2500
    return Array.from({ length: 100 }, () => flake.nextBigInt())
  })
  const table = Array.from(
    { length: 3000 },
    (_, i) => batches[Math.floor(i / 300) * 3 + (i % 3)][Math.floor((i % 300) / 3)],
  )
  t.deepEqual(kindsOf(await audited(t, table, ['--layout', 'hazelcast'])), [])
})

test('no false alarm: packages run rightly, and counters that wrap around', async (t) => {
  const [a, b] = [new Snowflake(DISCORD_EPOCH), new Snowflake(DISCORD_EPOCH)]
  const sapphire = interleaved(
    made(() => a.generate({ workerId: 1n }), { count: 30_000, perTick: 130 }),
    made(() => b.generate({ workerId: 2n }), { count: 30_000, perTick: 97 }),
  )
  t.deepEqual(kindsOf(await audited(t, sapphire, ['--layout', 'discord'])), [])
  t.deepEqual(
    kindsOf(
      await audited(
        t,
        sapphire.filter((_, i) => i % 10 < 7),
        ['--layout', 'discord'],
      ),
    ),
    [],
  )
  const idgen = made(nextOf(new FlakeIdgen({ datacenter: 3 })), { count: 30_000, perTick: 4000 })
  t.deepEqual(kindsOf(await audited(t, idgen, [])), [])
  t.deepEqual(
    kindsOf(
      await audited(
        t,
        idgen.filter((_, i) => i % 100 > 0),
        ['--layout', 'flake'],
      ),
    ),
    [],
  )
})

test('no false alarm: IDs that Twitter and Discord made', async (t) => {
  const known = require('../vectors/public-ids.json')
  for (const name of ['twitter', 'discord']) {
    const ids = [...new Set([...known[name], ...known[`${name}Learned`]])]
    for (const args of [[], ['--layout', name]]) {
      const report = await audited(t, ids, args)
      t.is(report.layout, name)
      t.deepEqual(kindsOf(report), [])
    }
  }
})

// --- what it reads ---

const IDS = made(nextOf(new FlakeIdgen({ worker: 6 })), { count: 50, perTick: 1 })
const ASCENDING = { ids: 50, distinct: 50, malformed: 0 }

for (const [what, table, args, expected] of [
  ['COPY with NULLs, CRLF and empty lines', IDS.map((id) => `${id}\r`).concat('\\N', '', '\r'), [], { empty: 3 }],
  ['psql', [' id', '-----', ...IDS.map((id) => ` ${id}`), '(50 rows)', ''], [], { headers: 1, empty: 3 }],
  ['a byte order mark', IDS.map((id, i) => (i ? id : `\ufeff${id}`)), [], {}],
  ['hex', IDS.map((id) => `0x${id.toString(16)}`), [], {}],
  ['base 62 with --from', IDS.map((id) => format(id, 'base62')), ['--from', 'base62'], {}],
  ['signed numbers', IDS.map((id) => BigInt.asIntN(64, id)), [], {}],
  ['quoted', ['"id"', ...IDS.map((id) => `"${id}",`)], [], { headers: 1 }],
  ['CSV by number', ['a,id', ...IDS.map((id) => `x,${id}`)], ['--column', '2'], { headers: 1 }],
  ['CSV by name', ['a;"id"', ...IDS.map((id) => `"x;""y";"${id}"`)], ['--column', 'id'], { headers: 1 }],
  ['COPY by number', IDS.map((id) => `O"x\t${id}`), ['--column', '2'], {}],
  ['JSON lines', IDS.map((id, i) => `{"n":1.5,"s":"a\\"1","id":${i % 2 ? id : `"${id}"`}}`), ['--column', 'id'], {}],
]) {
  test(`reads ${what}`, async (t) => {
    t.like(await audited(t, table, ['--layout', 'flake', ...args]), {
      ...ASCENDING,
      ...expected,
      first: '2026-06-01T00:00:00.000Z',
    })
  })
}

test('a quoted field over several lines is one record, with the number of its first line', async (t) => {
  const table = ['note,id', ...IDS.map((id) => `"one\ntwo, ""three""",${id}`), `"x\ny",${IDS[0]}`]
  const report = await audited(t, table, ['--column', 'id', '--layout', 'flake'])
  t.deepEqual(report.of.equal.equal, [{ id: String(IDS[0]), count: 2, lines: [2, 102] }])
  const cut = await audited(t, [...table.slice(0, 51), '"open,1', '2,3'], ['--column', 'id', '--layout', 'flake'])
  t.like(cut.of.malformed, { count: 1, lines: [{ line: 102 }] })
})

test('UTF-16, as PowerShell writes it, and a file', async (t) => {
  const file = path.join(t.context.folder, 'ids.txt')
  fs.writeFileSync(file, Buffer.from(`\ufeff${IDS.join('\r\n')}`, 'utf16le'))
  t.like(await auditedFile(t, file, ['--layout', 'flake']), ASCENDING)
})

test.beforeEach((t) => {
  t.context.folder = fs.mkdtempSync(path.join(require('node:os').tmpdir(), 'flakeforge-audit-'))
})
test.afterEach.always((t) => fs.rmSync(t.context.folder, { recursive: true, force: true }))

test('malformed lines: their number and the reason, without secrets or control characters', async (t) => {
  const bad = ['18446744073709551616', '\u001b[31mred', 'postgres://u:hunter2@host/db', '12x']
  const report = await audited(t, [...IDS, ...bad], ['--layout', 'flake'])
  const { count, lines } = report.of.malformed
  t.is(count, 4)
  t.deepEqual(
    lines.map(({ line }) => line),
    [51, 52, 53, 54],
  )
  t.regex(lines[1].why, /\\u\{1b\}\[31mred/)
  t.notRegex(JSON.stringify(report), /hunter2|\\u001b/)
  const many = Array.from({ length: 2000 }, (_, i) => `bad ${i}`)
  const { stdout, code } = await run(['audit', '--layout', 'flake'], { input: [...IDS, ...many].join('\n') })
  t.is(code, 1)
  t.regex(stdout, /2,000 lines are not an ID.*\n(?: {3}line .*\n){10} {3}and 1,990 more\n/)
})

test('text: the equal IDs with their lines, cut with the number of the rest, and the advice with its page', async (t) => {
  const table = [...IDS, ...IDS.slice(0, 12), ...Array.from({ length: 20 }, () => IDS[0]), IDS[49] + 1n]
  const { stdout, code } = await run(['audit', '--layout', 'flake'], { input: table.join('\n') })
  t.is(code, 1)
  t.regex(stdout, /^83 IDs of layout flake, epoch 1970/)
  t.regex(stdout, /1\. 12 IDs come more than once, in 44 lines, of datacenter 0, worker 6\./)
  t.regex(stdout, / {3}\d{19} {2}lines 1, 51, 63, 64, 65, 66, 67, 68, 69, 70, and 12 more\n/)
  t.regex(stdout, / {3}and 2 more\n {3}This node number .* See \S+\/docs\/run\/processes\.md\.\n/)
  t.regex(stdout, /What this check cannot detect:\n {2}- /)
  for (const [, page] of stdout.matchAll(/See (docs\/\S+\.md)/g))
    t.true(fs.existsSync(path.join(import.meta.dirname, '..', '..', page)), page)
})

test('IDs made now and then, with few nodes, are of the system that made them', async (t) => {
  const makers = {
    flake: [3, 7].map((worker) => nextOf(new FlakeIdgen({ worker }))),
    discord: [new Snowflake(DISCORD_EPOCH)].map((snowflake) => () => snowflake.generate()),
  }
  for (const [layout, calls] of Object.entries(makers)) {
    const table = calls.flatMap((call) => made(call, { count: 300, perTick: 1, step: 7 }))
    t.like(await audited(t, table), { layout, isGuessed: true, share: 1 })
  }
})

test('a guess needs IDs that are clear, and says what it is', async (t) => {
  const guessed = await audited(t, made(nextOf(new FlakeIdgen({ worker: 6 })), { perTick: 4000, count: 20_000 }))
  t.like(guessed, { layout: 'flake', isGuessed: true, share: 1, findings: [] })
  await isRefused(t, ['audit'], /do not show clearly which system.*--layout/, { input: '175928847299117063\n' })
})

test('not checked: exit status 2, and nothing on stdout', async (t) => {
  const text = IDS.join('\n')
  await isRefused(t, ['audit'], /it has no ID/, { input: '\n' })
  await isRefused(t, ['audit'], /none of its lines is an ID\. Line 2: 'no, never'/, { input: 'head\nno, never' })
  await isRefused(t, ['audit', '/no/such/file'], /ENOENT.*\/no\/such\/file/, { input: '' })
  await isRefused(t, ['audit', '/'], /EISDIR/, { input: '' })
  await isRefused(t, ['audit', 'a', 'b'], /one FILE, not 2/, { input: '' })
  await isRefused(t, ['audit', '--column', '0'], /--column/, { input: text })
  await isRefused(t, ['audit', '--from', 'octal'], /--from must be one of/, { input: text })
  await isRefused(t, ['audit', '--epoch', '2020-01-01'], /--epoch changes a layout/, { input: text })
  await isRefused(t, ['audit', '--column', 'key'], /no column 'key'\. Its columns are id, name/, {
    input: 'id,name\n1,2',
  })
  await isRefused(t, ['audit'], /line 1 has several columns/, { input: `id,name\n${text}` })
  await isRefused(t, ['audit'], /longer than 1048576 characters/, { input: 'x'.repeat(3 << 20) })
  await isRefused(t, ['audit', '--column', '1'], /a quoted field does not end within/, {
    input: `"${'x,\n'.repeat(1 << 20)}`,
  })
})

test('more IDs than the memory holds: the limit and the way out', async (t) => {
  const stub = path.join(t.context.folder, 'small.cjs')
  fs.writeFileSync(stub, "require('node:os').totalmem = () => 10_000_000\n")
  const input = Array.from({ length: 600_000 }, (_, i) => `${IDS[0] + BigInt(i)}\n`).join('')
  const env = { NODE_OPTIONS: `--require ${stub}` }
  await isRefused(t, ['audit', '--layout', 'flake'], /memory for about 300000\. Check it in parts.*flakeforge at/, {
    input,
    env,
  })
})

test('a layout of your own, with an idOffset and the node first', async (t) => {
  const spec = { fields: Object.entries({ shard: 10, counter: 12, timestamp: 42 }) }
  const layout = new Layout(spec)
  const ids = Array.from({ length: 200 }, (_, i) =>
    layout.encode({ timestamp: TIME + (i >> 1), shard: i % 2, counter: i }).readBigUInt64BE(),
  ) // prettier-ignore
  const report = await audited(t, [...ids, ids[3]], ['--layout', JSON.stringify(spec)])
  t.deepEqual(kindsOf(report), ['equal'])
  t.deepEqual(report.of.equal.nodes, [1])
  t.like(report.nodes[0], { id: 1, ids: 101, parts: { shard: 1 }, first: '2026-06-01T00:00:00.000Z', mostInTick: 1 })
  const shifted = new Layout('hazelcast', { idOffset: 7n })
  const flake = new FlakeId({ layout: shifted, node: 5, clock: () => TIME, maxAheadMs: 60_000 })
  const offset = Array.from({ length: 300 }, () => flake.nextBigInt())
  const clean = await audited(t, offset, ['--layout', 'hazelcast', '--id-offset', '7'])
  t.deepEqual(kindsOf(clean), [])
  t.deepEqual(
    clean.nodes.map(({ id, ids: count }) => [id, count]),
    [[5, 300]],
  )
})
