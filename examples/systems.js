'use strict'

// Every system in one line of code, with a known ID of that system: `node examples/systems.js` prints the table of
// docs/reference/layouts.md. The code in the table is the code that runs. With --fresh, each row also has a new ID. Without
// it, the output is always the same, so that a test can compare it with the page.

const FlakeId = require('..')

/** [system, the code that creates its generator, an ID of that system]; the comments say where the ID is from */
const SYSTEMS = [
  // Hazelcast's FlakeIdGeneratorTest, node 1234
  ['Hazelcast', "new FlakeId({ layout: 'hazelcast', node: 1234 })", '5300086112257234'],
  // the worked example of snowcast's manual
  ['snowcast', "new FlakeId({ layout: 'snowcast', nodes: 8192, node: 1234 })", '44368455009519617'],
  // an ID that java-uniqueid's issue 2 decodes
  ['java-uniqueid, SPREAD', "new FlakeId({ layout: 'uniqueid', generator: 0, cluster: 1 })", '7928662235423965185'],
  [
    'java-uniqueid, TIME_SEQUENTIAL',
    "new FlakeId({ layout: 'uniqueid', mode: 'sequential', generator: 1024, cluster: 3 })",
    '7130316800000102403',
  ],
  // the javadoc of DistributedUniqueTimeProvider, and its microsecond form
  ['Chronicle, ns', "new FlakeId({ layout: 'chronicle', host: 28 })", '1640700422954100128'],
  ['Chronicle, µs', "new FlakeId({ layout: 'chronicle-micros', host: 28 })", '1640700422954228'],
  // a tweet of June 2022, the example of Wikipedia's article on Snowflake IDs
  ['Twitter', "new FlakeId({ layout: 'twitter', datacenter: 11, worker: 26 })", '1541815603606036480'],
  // the example of Discord's API reference
  ['Discord', "new FlakeId({ layout: 'discord', worker: 1, process: 0 })", '175928847299117063'],
  // a post of 2020-08-26T13:43:27Z, from a question about Instagram's IDs on Stack Overflow
  ['Instagram', "new FlakeId({ layout: 'instagram', shard: 2675 })", '2384288897814875714'],
  // computed with Sonyflake's formula for 2023-11-14T22:13:20Z, because it publishes no ID
  ['Sonyflake 1', "new FlakeId({ layout: 'sonyflake', machine: 0xc0a8 })", '487328464253796520'],
  // from Compose() of Sonyflake 2.2.0
  ['Sonyflake 2', "new FlakeId({ layout: 'sonyflake2', machine: 0xc0a8 })", '74869333033205928'],
  // from a TsidFactory of tsid-creator 5.2.6: 0QJ99SJFEVC93
  ['TSID', "new FlakeId({ layout: 'tsid', node: 731 })", '849255963552493859'],
  // a public status of 2019-03-17T16:55:45.249Z
  ['Mastodon', "new FlakeId({ layout: 'mastodon' })", '101767036616676231'],
  // the key of a public post of 2024-11-26T22:34:57.235Z: 3lbv3urcj3s2t
  ['Bluesky, TID', "new FlakeId({ layout: 'tid', clockid: 25 })", '1774244349168640025'],
  // from biguint-format's manual, which took it from flake-idgen
  ['flake-idgen', 'new FlakeId({ datacenter: 0, worker: 0 })', '5827048346035945473'],
  // computed from the layout's fields for the time of README's first ID, with numbers only
  ['JavaScript numbers', "new FlakeId({ layout: 'safe', node: 37 })", '890242364234053'],
  // two fewer fields, and time from 2020
  [
    'custom',
    "new FlakeId({ layout: { epoch: 1577836800000, fields: [['timestamp', 41], ['shard', 13], ['counter', 10]] }, shard: 5 })",
    '1024779196825605120',
  ],
]

/** The parts of an ID in words: the time, then the counter and the node fields. */
function decoded({ date, timestamp: _, tick: __, id: ___, ...parts }) {
  return [date.toISOString(), ...Object.entries(parts).map(([name, value]) => `${name} ${value}`)].join(', ')
}

/** Runs a line of the table, which needs only `FlakeId`. */
const run = (code) => new Function('FlakeId', `return ${code}`)(FlakeId)

function row([system, code, id], isFresh) {
  const flake = run(code)
  const cells = [system, `\`${code}\``, `\`${id}\``, decoded(flake.decode(id))]
  return isFresh ? [...cells, `\`${flake.nextString()}\``] : cells
}

function main(isFresh) {
  const headings = ['system', 'code', 'known ID', 'decoded', ...(isFresh ? ['new ID'] : [])]
  const rows = [headings, headings.map(() => '---'), ...SYSTEMS.map((system) => row(system, isFresh))]
  console.log(rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n'))
}

main(process.argv.includes('--fresh'))
