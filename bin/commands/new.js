'use strict'

// `flakeforge new`: makes IDs. It waits as nextAsync() does, so a clock that steps back delays the output and never ends it.

const FlakeId = require('../../index.js')
const { LAYOUT, findLayout, nodeFields, readArguments, readLayout, usageError } = require('../parts/arguments.js')
const { hexOf, heading, partsForJson, picture } = require('../parts/picture.js')
const { print } = require('../parts/output.js')

const usage = `usage: flakeforge new [N] [options]

Makes N IDs (default 3; 1 with --as) and shows each as hex, decimal and bits, with the fields named.

  -n N               the same as N
  --layout NAME      flake (default) or another of \`flakeforge layouts\`; or fields of your own as JSON:
                     '{"fields":[["timestamp",41],["shard",13],["counter",10]]}'
  --id N             the whole node number, or 'ordinal'
  --FIELD N          a node field of the layout: --datacenter and --worker, --node, --machine, …
  --epoch DATE       Unix ms or ISO text that timestamps count from
  --nodes N          snowcast: how many nodes
  --mode MODE        uniqueid: spread or sequential
  --id-offset N      what is added to every ID
  --node-offset N    what is added to node numbers
  --as FORM          one ID a line: hex, dec, bin, base32, or json
  --json             the same as --as json`

const BATCH = 8192 // IDs made and written at a time: a few hundred kB of text

const FORMS = {
  hex: hexOf,
  dec: (id) => FlakeId.format(id),
  bin: (id) => FlakeId.format(id, 'bin'),
  base32: (id) => FlakeId.format(id, 'base32'),
  json: (id, layout) =>
    JSON.stringify({
      hex: hexOf(id),
      dec: FlakeId.format(id),
      signed: String(FlakeId.toSigned(id)),
      base32: FlakeId.format(id, 'base32'),
      layout: layout.name,
      parts: partsForJson(layout.decode(id)),
    }),
}

function readCount({ n }, positionals, absent) {
  const [count = n ?? absent, ...more] = positionals
  if (more.length > 0 || (positionals.length > 0 && n !== undefined) || !/^\d{1,9}$/.test(count)) {
    const given = [...positionals, ...(n === undefined ? [] : [`-n ${n}`])].join(' ')
    throw usageError(`N must be one number of IDs of 9 digits at most, not '${given}'`)
  }
  return Number(count)
}

function readForm({ as, json }) {
  const form = as ?? (json ? 'json' : undefined)
  if (form !== undefined && !Object.hasOwn(FORMS, form)) {
    throw usageError(`--as must be one of ${Object.keys(FORMS).join(', ')}, not '${form}'`)
  }
  return form
}

async function printLines(flake, count, form) {
  const { layout } = flake
  for (let left = count; left > 0; left -= BATCH) {
    const ids = await flake.takeAsync(Math.min(left, BATCH))
    let lines = ''
    for (let at = 0; at < ids.length; at += 8) lines += `${FORMS[form](ids.subarray(at, at + 8), layout)}\n`
    await print(lines)
  }
}

async function printPictures(flake, count) {
  for (let i = 0; i < count; i++) {
    const id = await flake.nextAsync()
    await print(`${heading(id)}\n${picture(id, flake.layout, flake.decode(id))}\n\n`)
  }
}

async function run(args) {
  const names = ['id', ...nodeFields(findLayout(args, 'flake'))]
  const own = Object.fromEntries([...names, 'node-offset', 'as', 'n'].map((name) => [name, { type: 'string' }]))
  const options = { ...LAYOUT, ...own, n: { type: 'string', short: 'n' } }
  const { values, positionals } = readArguments(args, options)
  const form = readForm(values)
  const count = readCount(values, positionals, form === undefined ? '3' : '1')
  const nodes = Object.fromEntries(names.map((name) => [name, values[name]]))
  const flake = new FlakeId({ ...nodes, nodeOffset: values['node-offset'], layout: readLayout(values, 'flake') })
  await (form === undefined ? printPictures(flake, count) : printLines(flake, count, form))
}

module.exports = { usage, run }
