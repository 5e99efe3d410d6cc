// The named layouts, the default first: the rows of core/src/layout/dialects.rs, which cites each specification.
// `npm run codec:table` writes this file. Defaults of a row: epoch 0 (Unix ms), ticks of 1,000,000 ns, hasNodes false,
// maxAheadMs and maxWaitMs 0. A decimal layout names its node field in place of the fields.

export interface Dialect {
  name: string
  epoch?: number
  tickNs?: number
  hasNodes?: boolean
  maxAheadMs?: number
  maxWaitMs?: number
  fields?: [name: string, bits: number][]
  host?: string
}

export default [
  {
    name: 'flake',
    fields: [
      ['timestamp', 42],
      ['datacenter', 5],
      ['worker', 5],
      ['counter', 12],
    ],
  },
  {
    name: 'hazelcast',
    epoch: 1514764800000,
    maxAheadMs: 15000,
    maxWaitMs: 1000,
    fields: [
      ['zero', 1],
      ['timestamp', 41],
      ['counter', 6],
      ['node', 16],
    ],
  },
  {
    name: 'snowcast',
    epoch: 1388534400000,
    hasNodes: true,
    maxWaitMs: 1000,
    fields: [
      ['timestamp', 41],
      ['node', 13],
      ['counter', 10],
    ],
  },
  {
    name: 'uniqueid',
    maxWaitMs: 1000,
    fields: [
      ['timestamp', 42],
      ['counter', 6],
      ['generator', 3],
      ['mode', 1],
      ['generator', 8],
      ['cluster', 4],
    ],
  },
  { name: 'chronicle', tickNs: 100, maxAheadMs: Number.POSITIVE_INFINITY, host: 'host' },
  { name: 'chronicle-micros', tickNs: 100000, maxAheadMs: Number.POSITIVE_INFINITY, host: 'host' },
  {
    name: 'twitter',
    epoch: 1288834974657,
    maxWaitMs: 1000,
    fields: [
      ['zero', 1],
      ['timestamp', 41],
      ['datacenter', 5],
      ['worker', 5],
      ['counter', 12],
    ],
  },
  {
    name: 'discord',
    epoch: 1420070400000,
    fields: [
      ['timestamp', 42],
      ['worker', 5],
      ['process', 5],
      ['counter', 12],
    ],
  },
  {
    name: 'instagram',
    epoch: 1314220021721,
    fields: [
      ['timestamp', 41],
      ['shard', 13],
      ['counter', 10],
    ],
  },
  {
    name: 'sonyflake',
    epoch: 1409529600000,
    tickNs: 10000000,
    maxWaitMs: 1000,
    fields: [
      ['zero', 1],
      ['timestamp', 39],
      ['counter', 8],
      ['machine', 16],
    ],
  },
  {
    name: 'sonyflake2',
    epoch: 1735689600000,
    tickNs: 10000000,
    maxWaitMs: 1000,
    fields: [
      ['zero', 1],
      ['timestamp', 39],
      ['counter', 8],
      ['machine', 16],
    ],
  },
  {
    name: 'tsid',
    epoch: 1577836800000,
    maxAheadMs: Number.POSITIVE_INFINITY,
    fields: [
      ['timestamp', 42],
      ['node', 10],
      ['counter', 12],
    ],
  },
  {
    name: 'mastodon',
    fields: [
      ['timestamp', 48],
      ['counter', 16],
    ],
  },
  {
    name: 'tid',
    tickNs: 1000,
    maxAheadMs: Number.POSITIVE_INFINITY,
    fields: [
      ['zero', 1],
      ['timestamp', 53],
      ['clockid', 10],
    ],
  },
  {
    name: 'safe',
    epoch: 1577836800000,
    maxAheadMs: 15000,
    fields: [
      ['zero', 11],
      ['timestamp', 41],
      ['node', 6],
      ['counter', 6],
    ],
  },
] as Dialect[]
