// What every runtime must answer alike: the exports of flakeforge that need no addon, on many IDs. Node answers with the addon.

const BASES = ['dec', 'hex', 'bin', 'oct', 'base32', 'base36', 'base58', 'base62', 'tid']
const ALL_ONES = 2n ** 64n - 1n

/** Bits that look like chance, and are the same everywhere. */
const ids = Array.from(
  { length: 200 },
  (_, i) => BigInt.asUintN(64, (BigInt(i) + 1n) * 0x9e3779b97f4a7c15n) >> BigInt(i % 30),
)

/** The result of a call, or the code of its error: the texts are shorter in browsers. */
function outcome(call) {
  try {
    return call()
  } catch ({ code }) {
    return { code }
  }
}

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

function ofLayout(layout, id) {
  const parts = outcome(() => layout.decode(id))
  return {
    parts,
    again: parts.code
      ? null
      : hex(layout.encode({ tick: parts.tick, counter: parts.counter, id: parts.id, mode: parts.mode })),
    uuid: outcome(() => layout.toUuid(id)),
    text: outcome(() => layout.toText(id)),
  }
}

const MISTAKES = [
  ({ layouts }) => layouts.twitter.decode(ALL_ONES),
  ({ layouts }) => layouts.flake.encode({ datacentre: 1 }),
  ({ layouts }) => layouts.flake.encode({ timestamp: -1 }),
  ({ layouts }) => layouts.flake.fromUuid('687e4889-8912-4700-858f-670cd8eec840'),
  ({ layouts }) => layouts.uniqueid.range(5),
  ({ Layout }) => new Layout('twiter'),
  ({ Layout }) => new Layout({ fields: [['timestamp', 41]] }),
  ({ toBigInt }) => toBigInt(2 ** 53),
  ({ parse }) => parse('0', 'base58'),
  ({ format }) => format(5n, 'base59'),
  ({ fromSigned }) => fromSigned(2n ** 63n),
]

export function work(api) {
  const { layouts, Layout, format, parse, toSigned, fromSigned, compare, jsonReplacer, jsonReviver } = api
  const own = new Layout({
    fields: [
      ['zero', 3],
      ['node', 20],
      ['timestamp', 31],
      ['counter', 10],
    ],
    tickMs: 1.5,
    epoch: 7,
  })
  const all = [...Object.values(layouts), own, new Layout('discord', { idOffset: -12345n })]
  return {
    layouts: all.map((layout) => [layout.name, layout.fields, layout.epoch, layout.end, layout.signedEnd]),
    ids: ids.map((id) => all.map((layout) => ofLayout(layout, id))),
    texts: ids.map((id) =>
      BASES.map((base) => [
        format(id, base),
        hex(parse(format(id, base), base)),
        format(id, base, { size: 70, padstr: '.', groupsize: 3 }),
      ]),
    ),
    signed: ids.map((id) => [String(toSigned(id)), hex(fromSigned(toSigned(id))), compare(id, 2n ** 62n)]),
    range: Object.values(layouts.flake.range(1_700_000_000_000, 1_700_000_001_000)).map(hex),
    json: JSON.stringify(JSON.parse(JSON.stringify({ ids }, jsonReplacer), jsonReviver(['ids'])), jsonReplacer),
    mistakes: MISTAKES.map((mistake) => outcome(() => mistake(api))),
  }
}
