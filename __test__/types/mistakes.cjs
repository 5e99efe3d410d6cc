'use strict'

// Mistakes that must not compile, each with the code of the error that tsc must report for it, and no other. Each
// becomes a separate file: an @ts-expect-error would be content with any error.

const IMPORTS = `import FlakeId, { createGroup, FlakeError, Layout, layouts, format } from 'flakeforge'
import type { FlakeIdOptions, JoinOptions, LayoutSpec, Parts } from 'flakeforge'
import { LeasedFlakeId, recordStore, redisStore, SegmentId, type StoreIdentity } from 'flakeforge/lease'
declare const flake: FlakeId, hazelcast: FlakeId<'hazelcast'>, parts: Parts<'hazelcast'>, mine: Layout<{ fields: [['shard', 23]] }>
declare const thrown: unknown, error: FlakeError
`

const UNKNOWN = 'TS2353' // an object literal may only specify known properties
const MISSPELT = 'TS2561' // the same, and tsc knows the intended property
const NO_PROPERTY = 'TS2339'
const MISSPELT_PROPERTY = 'TS2551' // the same, and tsc knows the intended property
const ARGUMENT = 'TS2345'
const ASSIGNED = 'TS2322'
const NO_OVERLOAD = 'TS2769'

const MISTAKES = [
  [MISSPELT, 'new FlakeId({ wroker: 1 })'],
  [UNKNOWN, "new FlakeId({ layout: 'hazelcast', worker: 1 })"],
  [UNKNOWN, 'new FlakeId({ layout: layouts.hazelcast, worker: 1 })'],
  [UNKNOWN, "new FlakeId({ layout: 'flake', nodes: 128 })"],
  [MISSPELT, "new FlakeId({ layout: { fields: [['timestamp', 41], ['shard', 23]] }, shrad: 5 })"],
  [UNKNOWN, "new FlakeId({ layout: { fields: [['timestamp', 41], ['shard', 23]] }, counter: 5 })"],
  [UNKNOWN, 'new FlakeId({ layout: mine, worker: 5 })'],
  [ASSIGNED, 'new FlakeId({ worker: true })'],
  ['TS2820', "new FlakeId({ layout: 'twiter' })"],
  [ASSIGNED, "new FlakeId({ layout: 'uniqueid', mode: 'x' })"],
  [ASSIGNED, "new FlakeId({ clock: () => 'now' })"],
  [MISSPELT, 'const options: FlakeIdOptions = { wroker: 1 }'],
  [UNKNOWN, "const options: FlakeIdOptions<'hazelcast'> = { worker: 1 }"],
  [MISSPELT, "FlakeId.join('redis://localhost', { gruop: 'orders' })"],
  [UNKNOWN, "FlakeId.join('redis://localhost', { id: 1 })"],
  [MISSPELT, "FlakeId.join('redis://localhost', { shared: 'file' })"],
  [UNKNOWN, "FlakeId.join('redis://localhost', { clock: Date.now })"],
  [UNKNOWN, "FlakeId.join('redis://localhost', { layout: 'hazelcast', worker: 1 })"],
  [UNKNOWN, "FlakeId.join({ group: 'orders' })"],
  [MISSPELT, "const options: JoinOptions = { gruop: 'orders' }"],
  [MISSPELT, "createGroup('redis://localhost', { gruop: 'orders' })"],
  [ASSIGNED, "FlakeId.join('redis://localhost', { signal: 5 })"],
  [ASSIGNED, "FlakeId.join('redis://localhost', { durable: 'yes' })"],
  [UNKNOWN, 'FlakeId.join({ list: async () => [], read: 5 })'],
  [NO_PROPERTY, 'redisStore(null).advance'],
  [ARGUMENT, 'recordStore(5)'],
  [ASSIGNED, "const identity: StoreIdentity = { history: 5, process: '' }"],
  [NO_PROPERTY, 'hazelcast.decode(1n).worker'],
  [MISSPELT_PROPERTY, 'flake.decode(1n).wroker'],
  [NO_PROPERTY, 'parts.worker'],
  [NO_PROPERTY, 'mine.decode(1n).worker'],
  [ASSIGNED, 'const text: string = hazelcast.decode(1n).node'],
  [ASSIGNED, "const twitter: FlakeId<'twitter'> = hazelcast"],
  [ASSIGNED, "const twitter: Layout<'twitter'> = layouts.hazelcast"],
  [MISSPELT, 'layouts.instagram.encode({ shrad: 5 })'],
  [ASSIGNED, 'flake.layout.encode({ tick: 5 })'],
  [UNKNOWN, "new Layout('flake', { nodes: 128 })"],
  [ARGUMENT, 'new Layout(5)'],
  [NO_PROPERTY, 'layouts.nope'],
  ['TS2741', 'const spec: LayoutSpec = { epoch: 5 }'],
  [NO_OVERLOAD, "flake.next('x')"],
  [ASSIGNED, 'const id: string = flake.next()'],
  ['TS2740', 'const id: Buffer = flake.nextAsync()'],
  [ASSIGNED, 'flake.nextAsync({ signal: 5 })'],
  [ARGUMENT, "flake.takeStrings(3, 'base64')"],
  [ARGUMENT, 'flake.decode([5])'],
  [MISSPELT, "format(5n, 'hex', { prefx: '0x' })"],
  ['TS2540', 'flake.id = 5'],
  ['TS2673', 'new SegmentId()'],
  ['TS2673', 'new LeasedFlakeId()'],
  [NO_PROPERTY, 'FlakeId.nothing'],
  [NO_PROPERTY, 'if (thrown instanceof FlakeError) thrown.retryAfterMs'],
  [NO_PROPERTY, "if (error.code === 'ERR_FLAKE_ID') error.retryAfterMs"],
  [ASSIGNED, "const text: string = error.code === 'ERR_FLAKE_OVERFLOW' ? error.retryAfterMs : ''"],
  ['TS2367', "error.code === 'ERR_FLAKE_OVERFLOWS'"],
  [ARGUMENT, "new FlakeError('mine')"],
  ['TS2578', '// @ts-expect-error: there is no mistake\nnew FlakeId({ worker: 1 })'],
]

/** The files: their names, without an extension, and their contents. */
const files = Object.fromEntries(
  MISTAKES.map(([code, text], i) => [
    `mistake-${String(i).padStart(2, '0')}-${code}`,
    `${IMPORTS}${text}\nexport {}\n`,
  ]),
)

/** The differences from tsc's output: a line for each mistake that it did not find, or reported differently. */
function unexpected(output) {
  const said = Object.fromEntries(Object.keys(files).map((name) => [name, []]))
  for (const line of output.split('\n')) {
    const [, name, code] = /(mistake-\d+-TS\d+)\.[cm]?ts\b.*?error (TS\d+):/.exec(line) ?? []
    if (name !== undefined) said[name].push(code)
    else if (/error TS\d+/.test(line)) said[line] = ['an error elsewhere']
  }
  return Object.entries(said)
    .filter(([name, codes]) => !name.endsWith(`-${codes.join()}`))
    .map(([name, codes]) => `${name}: ${codes.join() || 'no error'}`)
}

module.exports = { files, unexpected }
