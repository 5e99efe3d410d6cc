// `inspect` without --layout: which system an ID is from. IDs of Twitter and Discord are public ones that the weights
// were not derived from; the others are generated as those systems do.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import test from 'ava'
import { run } from '../support/command.mjs'
import { FlakeId } from '../support/index.mjs'

const { contenders, doubts, rank, together } = createRequire(import.meta.url)('../../target/rooms/bin/parts/ranking.js')
const { format, layouts } = FlakeId
const PUBLIC = JSON.parse(readFileSync(new URL('../vectors/public-ids.json', import.meta.url), 'utf8'))
const YEAR_MS = 365 * 86_400_000

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
    const timestamp = Date.now() - Math.floor((random(2 ** 30) / 2 ** 30) * years * YEAR_MS)
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
  for (const [id, best] of [
    ['3401625590661160962', 'snowcast'], // of Instagram: 99.7 % snowcast
    ['571549034565738540', 'discord'], // of Sonyflake: 95.8 % Discord
  ]) {
    const said = doubts(rank(id, Date.UTC(2026, 10, 26)), true)
    t.true(said[0].startsWith(`${best} 9`) && said.length > 1, said.join())
    t.false(said.includes(`${best} 100 %`))
  }
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
  t.regex(stdout, / {2}not certain: (?:discord|hazelcast) \d+ %, (?:discord|hazelcast) \d+ %/)
  const { stdout: full } = await run(['inspect', id])
  t.regex(full, /not certain: .*%/)
})
