// `inspect` without --layout: which system an ID is from. IDs in real-ids.json under `kept` are public ones that the figures
// of lib/reading/habits.ts were not chosen by; the others are learned from, or generated as those systems do.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import test from 'ava'
import { run } from '../support/command.mjs'
import { FlakeId } from '../support/index.mjs'

const { contenders, doubts, rank, reasons, together } = createRequire(import.meta.url)(
  '../../target/rooms/lib/reading/ranking.js',
)
const { format, layouts, toBigInt } = FlakeId
const PUBLIC = JSON.parse(readFileSync(new URL('../vectors/public-ids.json', import.meta.url), 'utf8'))
const REAL = JSON.parse(readFileSync(new URL('../vectors/real-ids.json', import.meta.url), 'utf8'))
const YEAR_MS = 365 * 86_400_000
/** The same IDs in each run. */
const LATEST = Date.UTC(2026, 10, 1)

/** The same numbers in each run. */
function randomFrom(seed) {
  let state = seed
  return (n) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * n)
  }
}

/** IDs of a system: from recent years, with these parts. */
function make(name, partsOf, years = 3) {
  const random = randomFrom(name.length)
  return Array.from({ length: 200 }, () => {
    const timestamp = LATEST - Math.floor((random(2 ** 30) / 2 ** 30) * years * YEAR_MS)
    return String(FlakeId.toBigInt(layouts[name].encode({ timestamp, ...partsOf(random) })))
  })
}

const few = (random) => ({ node: random(8), counter: random(4) })
const IDS = {
  twitter: PUBLIC.twitter,
  discord: PUBLIC.discord,
  hazelcast: make('hazelcast', few),
  snowcast: make('snowcast', few),
  sonyflake: make('sonyflake', (random) => ({ machine: random(65_536), counter: random(4) })),
  flake: make('flake', (random) => ({ id: random(1024), counter: random(3) })),
  safe: make('safe', (random) => ({ node: random(64), counter: random(4) })),
  instagram: make('instagram', (random) => ({ shard: random(8192), counter: random(1024) })),
  mastodon: make('mastodon', (random) => ({ counter: random(65_536) })),
  chronicle: make('chronicle', (random) => ({ host: random(20) }), 4).map((id) =>
    String(BigInt(id) + 90n * BigInt(id[14])),
  ),
}

/** As people copy them. As numbers, they are not told from IDs of other systems. */
const TIDS = make('tid', (random) => ({ clockid: random(1024) })).map((id) => format(id, 'tid'))

async function inspectAll(ids) {
  const { stdout } = await run(['inspect', '--json'], { input: ids.join('\n') })
  const shown = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  if (shown.length !== ids.length) throw new Error(`${shown.length} of ${ids.length}`)
  return shown
}

for (const [name, ids] of Object.entries(IDS)) {
  test(`a file of IDs of ${name} is recognised`, async (t) => {
    const shown = await inspectAll(ids)
    const right = shown.filter(({ layout }) => layout === name)
    t.log(`${right.length} of ${ids.length}`)
    t.true(right.length >= ids.length * 0.97)
    for (const { readings, layout } of shown.filter(({ layout }) => layout !== name)) {
      t.true(readings[0].probability < 0.95, `${layout} instead of ${name}, without doubt`)
      t.true(
        readings.some((reading) => reading.layout === name),
        `${name} is not even listed`,
      )
    }
  })
}

test('TIDs are known by their text, alone and in a file', async (t) => {
  for (const shown of [await inspectAll(TIDS), await inspectAll(TIDS.slice(0, 1))])
    for (const { form, layout, readings } of shown) {
      t.deepEqual([form, layout, readings.length], ['tid', 'tid', 1])
    }
})

test('a single ID: close candidates are listed, with the right system among them', (t) => {
  for (const [name, ids] of Object.entries(IDS)) {
    for (const id of ids) {
      const could = contenders(rank(id))
      t.true(
        could.some((reading) => reading.name === name),
        `${id} of ${name}`,
      )
      t.true(could[0].name === name || doubts(rank(id), true).length > 1, `${id} of ${name} is another's without doubt`)
    }
  }
})

test('a single ID is never certain while another system has a plausible reading', (t) => {
  const now = Date.UTC(2026, 10, 26)
  const isUsual = ({ time }) => time === 'usual' || time === 'fresh' || time === 'near'
  for (const id of Object.values(IDS).flat()) {
    const [best, ...others] = rank(id, now)
    const said = doubts([best, ...others], true)
    t.is(said.length > 1, isUsual(best) && others.some(isUsual), `${id}: ${said}`)
    t.false(
      said.some((doubt) => / (?:100|0(?:\.0)?) %$/.test(doubt)),
      said.join(),
    )
  }
})

test('alone and in a file, each misread line names its own system among its doubts', (t) => {
  for (const [name, ids] of Object.entries(IDS)) {
    const learned = together(ids)
    const wrong = ids.map((id) => rank(id, Date.now(), [], learned)).filter(([best]) => best.name !== name)
    for (const readings of wrong)
      t.true(
        doubts(readings, false).some((doubt) => doubt.startsWith(`${name} `)),
        name,
      )
  }
  // of Instagram
  const said = doubts(rank('3401625590661160962', Date.UTC(2026, 10, 26)), true)
  t.true(said[0].startsWith('snowcast 9') && said[1].startsWith('instagram '), said.join())
})

test('a file of several systems: each line gets its own system', async (t) => {
  const lines = Object.entries({ ...IDS, chronicle: [] }).flatMap(([name, ids]) =>
    ids.slice(0, 40).map((id) => [name, id]),
  )
  const shown = await inspectAll(lines.map(([, id]) => id))
  const wrong = lines.filter(([name], i) => shown[i].layout !== name)
  t.true(wrong.length <= lines.length * 0.1, `${wrong.length} of ${lines.length}: ${wrong.map(([name]) => name)}`)
})

test('a line that may be of several systems says that', async (t) => {
  const id = String(
    FlakeId.toBigInt(layouts.hazelcast.encode({ timestamp: Date.UTC(2025, 5, 1), node: 1, counter: 0 })),
  )
  const { stdout } = await run(['inspect'], { input: `${id}\n` })
  t.regex(stdout, / {2}not certain: discord \d+ %, .*hazelcast \d+ %/)
  const { stdout: full } = await run(['inspect', id])
  t.regex(full, /not certain: .*%/)
})

/** LinkedIn's IDs have the layout of flake-idgen, so their time is right; the name is in doubt. */
const LAYOUT_OF = { linkedin: 'flake' }
const layoutOf = (system) => LAYOUT_OF[system] ?? system

/** How many readings are right, or name the right system among their doubts, and how many are wrong without a doubt. */
function judged(system, readings, isAlone) {
  const counts = { all: readings.length, fair: 0, wrong: 0 }
  for (const each of readings) {
    const said = doubts(each, isAlone)
    const isRight = each[0].name === layoutOf(system)
    if (isRight || said.some((doubt) => doubt.startsWith(`${layoutOf(system)} `))) counts.fair++
    else if (said.length === 0) counts.wrong++
  }
  return counts
}

const TODAY = Date.UTC(2026, 10, 28)
const sum = (counts) =>
  counts.reduce((all, each) => ({ all: all.all + each.all, fair: all.fair + each.fair, wrong: all.wrong + each.wrong }))

for (const [part, systems] of Object.entries({ learned: REAL.learned, kept: REAL.kept })) {
  test(`real IDs, ${part}: alone, 95 of 100 are right or in doubt, and none is wrong without a doubt`, (t) => {
    const counts = Object.entries(systems).map(([system, ids]) =>
      judged(
        system,
        ids.map((id) => rank(id, TODAY)),
        true,
      ),
    )
    const { all, fair, wrong } = sum(counts)
    t.log(`${fair} of ${all}, ${wrong} wrong without a doubt`)
    t.true(fair >= all * 0.95)
    t.is(wrong, 0)
  })

  test(`real IDs, ${part}: in files of one system 98 of 100 are, and at most 1 of 100 is wrong without a doubt`, (t) => {
    const random = randomFrom(7)
    const counts = [2, 3, 6, 20, Number.POSITIVE_INFINITY].flatMap((size) =>
      Object.entries(systems).flatMap(([system, ids]) =>
        Array.from({ length: Number.isFinite(size) ? 8 : 1 }, () => {
          const file = Number.isFinite(size) ? Array.from({ length: size }, () => ids[random(ids.length)]) : ids
          const learned = together(file, TODAY)
          return judged(
            system,
            file.map((id) => rank(id, TODAY, [], learned)),
            false,
          )
        }),
      ),
    )
    const { all, fair, wrong } = sum(counts)
    t.log(`${fair} of ${all}, ${wrong} wrong without a doubt`)
    t.true(fair >= all * 0.98)
    t.true(wrong <= all * 0.01)
  })
}

test('tweets of 2012 to 2015 are of Twitter', async (t) => {
  const ids = REAL.learned.twitter.filter((id) => BigInt(id) > 2n * 10n ** 17n && BigInt(id) < 57n * 10n ** 16n)
  t.true(ids.length > 30)
  for (const { layout } of await inspectAll(ids)) t.is(layout, 'twitter')
  const { stdout } = await run(['inspect'], { input: '475627826616340480\n466866157933182977\n' })
  t.regex(
    stdout,
    /^475627826616340480 +twitter +2014-06-08T13:18:05.*\n466866157933182977 +twitter +2014-05-15T09:02:20/,
  )
})

test('users, applications and servers of Discord are of Discord, for audit too', async (t) => {
  const users = [
    '159985870458322944',
    '160492252832071680',
    '169678500893163520',
    '213466096718708737',
    '235148962103951360',
  ]
  const found = REAL.kept.discord.filter((id) => (BigInt(id) & 0x1ffffn) === 0n) // process and counter are 0
  t.true(found.length > 3)
  for (const ids of [users, found, REAL.kept.discord]) {
    const shown = await inspectAll(ids)
    t.true(shown.filter(({ layout }) => layout === 'discord').length >= ids.length * 0.9)
    for (const { readings } of shown) t.true(readings.some(({ layout }) => layout === 'discord'))
  }
  const { stdout } = await run(['audit', '--json'], { input: REAL.learned.discord.join('\n') })
  t.is(JSON.parse(stdout).layout, 'discord')
})

test('the two Sonyflakes: apart where the time of one is in the future, else both are named', async (t) => {
  const alone = (id) => doubts(rank(id, TODAY), true).map((doubt) => doubt.split(' ')[0])
  t.false(alone('487328464253796520').includes('sonyflake2'), 'it would be of 2034')
  t.deepEqual(alone('74869333033205928').slice(0, 2), ['sonyflake2', 'sonyflake'])
  for (const name of ['sonyflake', 'sonyflake2'])
    for (const { layout } of await inspectAll(REAL.learned[name])) t.is(layout, name)
})

test('a counter is rare only where it is rarer than others: not in Instagram and Mastodon', (t) => {
  for (const [system, id] of [
    ['mastodon', '101767036616676231'],
    ...REAL.kept.instagram.map((id) => ['instagram', id]),
  ]) {
    const reading = rank(id, TODAY).find(({ name }) => name === system)
    t.regex(reasons(reading), /counter \d+ is usual/)
  }
  const odd = toBigInt(layouts.flake.encode({ timestamp: TODAY, counter: 3000 }))
  t.regex(reasons(rank(odd, TODAY).find(({ name }) => name === 'flake')), /counter 3000 is rare/)
})

test('systems that are not in the table are not named without a doubt', (t) => {
  const random = randomFrom(3)
  const secondsSince = (from, to) => BigInt(Math.floor((from + (random(1e9) / 1e9) * (to - from) - from) / 1000))
  const make = {
    // baidu/uid-generator, README: 28 bits of seconds since 2016-05-20, 22 of the worker, 13 of the sequence
    baidu: () =>
      (secondsSince(Date.UTC(2016, 4, 20), TODAY) << 35n) | (BigInt(1 + random(50)) << 13n) | BigInt(random(50)),
    // 32 bits of Unix seconds, as in videos of TikTok
    seconds: () => ((1_514_764_800n + secondsSince(Date.UTC(2018, 0), TODAY)) << 32n) | BigInt(random(2 ** 31)),
    sequence: () => BigInt(1 + random(2 ** 30)),
  }
  for (const [system, one] of Object.entries(make)) {
    const ids = Array.from({ length: 60 }, one)
    const learned = together(ids, TODAY)
    for (const id of ids) t.true(doubts(rank(id, TODAY, [], learned), false).length > 0, `${id} of ${system}`)
  }
})
