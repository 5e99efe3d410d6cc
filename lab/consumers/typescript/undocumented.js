// Finds what an editor shows for the options and parts in a program. It asks TypeScript's language service, as editors
// do.

const path = require('node:path')

const PROGRAM = `
import FlakeId, { createGroup, format, Layout, layouts, type LayoutSpec, Seal, toBigInt } from 'flakeforge'
import { LeasedFlakeId, openStore, SegmentId } from 'flakeforge/lease'
const flake = new FlakeId({
  datacenter: 1, worker: 2, id: 3, epoch: 0, seqMask: 1, layout: 'flake', nodeOffset: 1, idOffset: 1n, maxAheadMs: 0,
  maxWaitMs: 0, prefetch: true, clock: Date.now, shared: 'file',
})
new FlakeId({ layout: 'hazelcast', node: 1 })
new FlakeId({ layout: 'snowcast', node: 1, nodes: 128 })
new FlakeId({ layout: layouts.uniqueid, generator: 1, cluster: 1, mode: 'spread' })
new FlakeId({ layout: 'chronicle', host: 1 })
new FlakeId({ layout: 'discord', worker: 1, process: 1 })
new FlakeId({ layout: 'instagram', shard: 1 })
new FlakeId({ layout: 'sonyflake', machine: 1 })
FlakeId.join('file:folder', {
  datacenter: 1, group: 'orders', slots: 1, ttlMs: 5000, skewMs: 0, durable: true, waitMs: 0, host: 'a', maxWaitMs: 0,
  signal: AbortSignal.timeout(5),
})
const spec: LayoutSpec = { name: 'mine', epoch: 0, tickMs: 1, fields: [['timestamp', 41], ['shard', 23]] }
new Layout(spec, { epoch: 0, idOffset: 1n })
layouts.twitter.encode({ timestamp: 5, date: new Date(), tick: 5n, counter: 1, id: 2, datacenter: 1, worker: 3 })
const { timestamp, date, tick, counter, id, mode, datacenter, worker } = flake.decode(1n)
format(1n, 'hex', { prefix: '0x', groupsize: 2, delimiter: '_', padstr: '0', size: 5, trim: true, format: 'BE' })
flake.nextAsync({ signal: AbortSignal.timeout(5) })
flake.next
flake.nextString
flake.take
flake.takeStrings
flake.takeAsync
flake.ids
flake.decode
flake.layout.range
flake.stats.aheadMs
createGroup
format
layouts
Seal
toBigInt
LeasedFlakeId
openStore
SegmentId
FlakeId.join
`

/** The places of names that an editor should explain: keys of options, names taken from decoded parts, and members. */
function positions(text) {
  const keys = [...text.matchAll(/[{,]\s*(?<name>\w+)(?=:)/g)]
  const parts = [...text.matchAll(/(?<=const \{[^}]*)\b(?<name>\w+)(?=[^{]*\} =)/g)]
  const members = [...text.matchAll(/^(?:FlakeId\.)?(?<name>\w+)$|^flake\.(?:\w+\.)?(?<member>\w+)$/gm)]
  return [...keys, ...parts, ...members].map((match) => {
    const name = match.groups.name ?? match.groups.member
    return { name, at: match.index + match[0].lastIndexOf(name) }
  })
}

/** The names in the program above for which an editor would show no comment. */
function undocumented(folder, version) {
  const ts = require(path.join(folder, 'node_modules', `typescript-${version}`))
  const file = path.join(folder, 'hover.mts')
  const service = ts.createLanguageService({
    getCompilationSettings: () => ({ module: ts.ModuleKind.NodeNext, types: ['node'], strict: true }),
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot(name) {
      const text = name === file ? PROGRAM : ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => name === file || ts.sys.fileExists(name),
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  })
  const mistakes = service.getSemanticDiagnostics(file).map(({ messageText }) => JSON.stringify(messageText))
  const missing = positions(PROGRAM)
    .filter(({ at }) => ts.displayPartsToString(service.getQuickInfoAtPosition(file, at)?.documentation) === '')
    .map(({ name, at }) => `${name}, in line ${PROGRAM.slice(0, at).split('\n').length}, has no comment`)
  return [...mistakes, ...missing]
}

module.exports = undocumented
