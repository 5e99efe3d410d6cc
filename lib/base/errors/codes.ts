// The table of errors: a row for each code, with its class, its fields, when it is thrown, and how the server answers with it;
// the table of warnings; and what to do about each. docs/reference/errors.md, docs/troubleshooting.md and the statuses in
// docs/service/server.md are written from here by scripts/errors.js. A new error is a row here, and its text in the file of its
// subject, beside this one.

import type { SlotInfo } from '../slot-info.ts'

/** Why a server returned no IDs. */
export interface RemoteFailure {
  /** its URL */
  server: string
  /** what happened, as a sentence without its full stop */
  reason: string
  /** the answer's status; undefined without an answer */
  status?: number
  /** flakeforge's error code, if the server sent one */
  code?: string
  /** when the server may be asked again, if it sent a Retry-After */
  retryAfterMs?: number
}

/** A server's refusal. `group`: set if the request was for a member of it. */
type Refused = { server?: string; status?: number | undefined; group?: string }

/** The faults of unreadable files or records, and the contents of the readable ones. */
type Faults = { slots?: SlotInfo[]; faults?: string[] }

type OfSlot = { group: string; slot: number | undefined; cause?: unknown }

/** The fields of each code. The codes from ERR_FLAKE_ACCEPT on are refusals by an ID server. */
export type Fields = {
  ERR_FLAKE_OPTION: { option?: string; value?: unknown } & Refused
  ERR_FLAKE_OVERFLOW: { retryAfterMs: number } & Partial<OfSlot>
  ERR_FLAKE_CLOCK_BACKWARDS: { retryAfterMs: number; behindMs: number }
  ERR_FLAKE_TIME_RANGE: { timestamp: number }
  ERR_FLAKE_BACKFILL: { group: string; timestamp: number }
  ERR_FLAKE_ID: { value?: unknown; key?: string } & Refused
  ERR_FLAKE_CONFIG_MISMATCH: {
    theirs?: string | null | undefined
    ours?: string | null | undefined
    server?: string
    other?: string | undefined
    group?: string
    failures?: RemoteFailure[]
    retryAfterMs?: number
  } & Faults
  ERR_FLAKE_FILE: { path: string | undefined; cause?: unknown } & Faults
  ERR_FLAKE_LEASE_EXPIRED: OfSlot
  ERR_FLAKE_DETACHED: Partial<OfSlot>
  ERR_FLAKE_DESTROYED: OfSlot
  ERR_FLAKE_EXHAUSTED: { group: string; retryAt: Date; storeNow: number | undefined; cause?: unknown }
  ERR_FLAKE_QUIET: { group: string; retryAt: Date; storeNow: number }
  ERR_FLAKE_CLOCK_SKEW: { skewMs: number; group?: string }
  ERR_FLAKE_STORE: { counter?: string; cause?: unknown }
  ERR_FLAKE_RECORD: { group: string; record: string } & Faults
  ERR_FLAKE_REMOTE: { failures?: RemoteFailure[]; retryAfterMs?: number; cause?: unknown } & Refused
  ERR_FLAKE_REPLAY: { failures?: RemoteFailure[]; retryAfterMs?: number; cause?: unknown }
  ERR_FLAKE_LOAD: { cause?: unknown }
  ERR_FLAKE_ACCEPT: Refused
  ERR_FLAKE_BODY: Refused
  ERR_FLAKE_HOST: Refused
  ERR_FLAKE_METHOD: Refused
  ERR_FLAKE_NAME: Refused
  ERR_FLAKE_NONCE: Refused
  ERR_FLAKE_ORIGIN: Refused
  ERR_FLAKE_REQUEST: Refused
  ERR_FLAKE_ROUTE: Refused
  ERR_FLAKE_TOKEN: Refused
}

/** Codes of a server's answers that its clients retry: they reach a program as `failures` of ERR_FLAKE_REMOTE. */
type Retried = `ERR_FLAKE_${'BUSY' | 'ENDING' | 'INTERNAL' | 'RATE' | 'TIMEOUT' | 'UNREADY'}`

/** A class of errors, such as TypeError. */
export type ErrorClass = new (message: string, options?: ErrorOptions) => Error

/**
 * The class of each error: Error, unless it is here. The one for an option depends on what is wrong with it: TypeError or
 * RangeError.
 */
export const CLASSES: { readonly [C in keyof Fields]?: ErrorClass } = {
  ERR_FLAKE_TIME_RANGE: RangeError,
  ERR_FLAKE_BACKFILL: RangeError,
  ERR_FLAKE_ID: TypeError,
}

interface Row<Names> {
  /** when it is thrown; absent if only a server answers with it */
  when?: string
  /** the fields to document */
  more?: readonly Names[]
  /** with which statuses the server answers with it */
  status?: readonly number[]
  /**
   * What the server says in place of the message, which may contain addresses, roles and paths of stores, and JavaScript
   * calls that mean nothing in other languages
   */
  answer?: string
  /** the answer lacks the cause, which is for the server's operator */
  needsReason?: true
}

/** The order is that of the documents. Only the server and scripts load these rows. */
export const CODES = {
  ERR_FLAKE_OPTION: {
    when: 'an option or argument is out of range, of the wrong type, or unknown',
    more: ['option', 'value'],
    status: [400, 503],
    answer: 'This server cannot generate these IDs with its current configuration.',
    needsReason: true,
  },
  ERR_FLAKE_OVERFLOW: {
    when: 'all IDs of this millisecond are used up',
    more: ['retryAfterMs'],
    status: [503],
    answer: 'All IDs of this moment are used up. Ask again after Retry-After, or ask another server.',
  },
  ERR_FLAKE_CLOCK_BACKWARDS: {
    when: 'the clock is behind the last ID',
    more: ['behindMs', 'retryAfterMs'],
    status: [503],
    answer: "This server's clock is behind its last ID.",
    needsReason: true,
  },
  ERR_FLAKE_TIME_RANGE: {
    when: 'the time is before the epoch, or after the last one that fits the layout',
    more: ['timestamp'],
    status: [503],
    answer: "This server's clock shows a time that the layout cannot hold.",
    needsReason: true,
  },
  ERR_FLAKE_BACKFILL: {
    when: '`nextAt()`: all IDs of this past time are used, or others may have generated them',
    more: ['timestamp', 'group'],
  },
  ERR_FLAKE_ID: { when: 'not an ID, or not valid in this layout', more: ['value'], status: [400] },
  ERR_FLAKE_CONFIG_MISMATCH: {
    when: 'a file, a group or another generator of the process was created with other options',
    more: ['theirs', 'ours'],
    status: [503],
    answer: 'This server has other options than the group that it serves.',
    needsReason: true,
  },
  ERR_FLAKE_FILE: {
    when: 'a shared or slot file is damaged, is not a file, is not writable, belongs to another user, or was removed',
    more: ['path'],
    status: [503],
    answer: 'A file of this group is damaged or out of reach.',
    needsReason: true,
  },
  ERR_FLAKE_LEASE_EXPIRED: {
    when: 'the window has ended, and the store has not renewed it',
    more: ['group', 'slot', 'cause'],
    status: [503],
    answer:
      "The group's store does not answer, or granted the slot to another server. IDs are available again when the store answers.",
  },
  ERR_FLAKE_DETACHED: {
    when: 'the generator has no slot',
    more: ['group'],
    status: [503],
    answer: 'This server has no slot of the group at the moment, and is looking for one. Ask again after Retry-After.',
  },
  ERR_FLAKE_DESTROYED: {
    when: 'the group, or the counter of a `SegmentId`, was destroyed; this is permanent',
    more: ['group'],
    status: [503],
    answer: 'This group was destroyed. Restart the server to create a new group of that name.',
  },
  ERR_FLAKE_EXHAUSTED: {
    when: 'no slot became free in time',
    more: ['group', 'retryAt'],
    status: [503],
    answer:
      'All slots of this group are taken. Stop servers that are not needed. For more slots, destroy the group and create it again.',
  },
  ERR_FLAKE_QUIET: {
    when: 'the store is new or may have lost data, and grants no slot until no process can still hold an old window',
    more: ['group', 'retryAt'],
    status: [503],
    answer:
      'This group is new, or its store may have lost it, so there are no IDs until Retry-After. The log of the server has the ' +
      'command that creates a new group without this wait.',
  },
  ERR_FLAKE_CLOCK_SKEW: {
    when: 'the clocks of this machine and of the store are too far apart',
    more: ['skewMs'],
    status: [503],
    answer: 'The clocks of this server and of its store are too far apart.',
    needsReason: true,
  },
  ERR_FLAKE_STORE: {
    when: 'a call to the store failed',
    more: ['cause'],
    status: [503],
    answer: 'The store of this name does not answer, or refuses a call.',
    needsReason: true,
  },
  ERR_FLAKE_RECORD: {
    when: 'a record in the store was edited, truncated, or written by a newer version, which the message names; it is not overwritten',
    more: ['group', 'record'],
    status: [503],
    answer: 'The store has a record that this server cannot read.',
    needsReason: true,
  },
  ERR_FLAKE_REMOTE: { when: 'no server of the ID service returned IDs', more: ['failures', 'retryAfterMs'] },
  ERR_FLAKE_REPLAY: {
    when: 'a proxy or cache in front of an ID server replayed a response; its IDs are not used',
    more: ['failures'],
  },
  ERR_FLAKE_LOAD: { when: 'the native addon could not be loaded; the message says why', more: ['cause'] },

  ERR_FLAKE_ACCEPT: { status: [406] },
  ERR_FLAKE_BODY: { status: [400, 413, 415] },
  ERR_FLAKE_BUSY: { status: [503] },
  ERR_FLAKE_ENDING: { status: [503] },
  ERR_FLAKE_HOST: { status: [403] },
  ERR_FLAKE_INTERNAL: { status: [500] },
  ERR_FLAKE_METHOD: { status: [405] },
  ERR_FLAKE_NAME: { status: [404] },
  ERR_FLAKE_NONCE: { status: [400] },
  ERR_FLAKE_ORIGIN: { status: [403] },
  ERR_FLAKE_RATE: { status: [429] },
  ERR_FLAKE_REQUEST: { status: [400, 417, 431, 499] },
  ERR_FLAKE_ROUTE: { status: [400, 404] },
  ERR_FLAKE_TIMEOUT: { status: [408, 503] },
  ERR_FLAKE_TOKEN: { status: [401] },
  ERR_FLAKE_UNREADY: { status: [503] },
} as const satisfies { [C in keyof Fields | Retried]: Row<C extends keyof Fields ? keyof Fields[C] | 'cause' : never> }

/** When each warning is emitted. The links are those of a page in docs/reference/. */
export const WARNINGS = {
  FLAKEFORGE_ELSE_FROM:
    'a server of `elseFrom` generates IDs of another group: see [When no slot is free](../service/else-from.md)',
  FLAKEFORGE_EPOCH: 'an epoch seems to be in another unit',
  FLAKEFORGE_HORIZON: 'a layout has less than a year of IDs left',
  FLAKEFORGE_NODE_IN_USE:
    'a group may grant the node number of a function in the same database: see [IDs from the database](../data/database-defaults.md#the-node)',
  FLAKEFORGE_NODE_ZERO: 'a worker of a cluster has no node number of its own',
  FLAKEFORGE_QUIET:
    '`join()` waits for a [new group](../store/choosing.md#a-new-group), or `create` came too late or has to wait',
  FLAKEFORGE_RENEWAL: 'the store has not renewed a window. Shown once; the event `renewal-failed` reports each outage',
  FLAKEFORGE_SPLIT_BRAIN:
    'a server has replicas, and one of them could be promoted while the server still runs: see [One primary](../store/what-can-go-wrong.md#one-primary)',
  FLAKEFORGE_STORE_AWAY:
    'one of [several stores](../store/quorum.md) that form one does not take part, or takes part again',
  FLAKEFORGE_STORE_LIST:
    'the list of [several stores](../store/quorum.md#to-replace-a-machine) that form one was changed, and this process still has an earlier list',
  FLAKEFORGE_TIME: 'a time or a clock seems to be in another unit',
  FLAKEFORGE_VARIABLE:
    'an environment variable named `FLAKEFORGE_…` is ignored, for example because its name is misspelt',
  FLAKEFORGE_WAIT:
    '`join()` waits for a store that currently accepts no writes: see [Temporary refusals](../store/choosing.md#temporary-refusals)',
  FLAKEFORGE_WASM: 'WebAssembly is used, because there is no addon for this platform: see [Platforms](platforms.md)',
} as const

export type WarningCode = keyof typeof WARNINGS

type Thrown = { [C in keyof typeof CODES]: (typeof CODES)[C] extends { when: string } ? C : never }[keyof typeof CODES]

/** What to do about each code. The links are those of a page in docs/. */
export const FIXES: { readonly [C in Thrown | WarningCode]: string } = {
  ERR_FLAKE_OPTION:
    'do what the message says: it names the option, its value and the valid ones. [All options](reference/options.md)',
  ERR_FLAKE_OVERFLOW: 'call `nextAsync()`, or set [`maxWaitMs`](reference/options.md#waiting)',
  ERR_FLAKE_CLOCK_BACKWARDS:
    'call `nextAsync()`, or set [`maxWaitMs`](reference/options.md#waiting). If it happens often, let NTP adjust the clock gradually instead of setting it back',
  ERR_FLAKE_TIME_RANGE:
    "correct the clock or the epoch. After a layout's last time, only [another layout](reference/layouts.md) helps",
  ERR_FLAKE_ID: 'check the input with `isId` first. [JSON and input](data/input.md#input)',
  ERR_FLAKE_CONFIG_MISMATCH: 'use the options of the group, file or generator. The message names each difference',
  ERR_FLAKE_FILE:
    'do what the message says, and leave the file alone until then. [What the files guarantee](run/processes.md#what-the-files-guarantee)',
  ERR_FLAKE_LEASE_EXPIRED:
    'answer 503 and wait: IDs resume when the store answers. `cause` says why it did not. [An outage](store/choosing.md#an-outage-of-the-store)',
  ERR_FLAKE_DETACHED:
    'wait: the generator is looking for a slot. After your own `close()` or `detach()`, call `attach()`',
  ERR_FLAKE_DESTROYED: 'call `join()` again. If nobody should have destroyed the group, find out who did',
  ERR_FLAKE_EXHAUSTED:
    'call `close()` on SIGTERM, end processes that are not needed, or use more [`slots`](store/choosing.md#options)',
  ERR_FLAKE_QUIET: 'wait until `retryAt`. [Why `join()` waits](#join-takes-65-s)',
  ERR_FLAKE_CLOCK_SKEW: 'run NTP on this machine and on the store',
  ERR_FLAKE_STORE: 'check the address, the rights and the settings that the message names, then try again',
  ERR_FLAKE_RECORD: 'do what the message says. Do not edit or delete the record',
  ERR_FLAKE_REMOTE:
    '`failures` has a reason for each server. [When a server fails](service/client.md#when-a-server-fails)',
  ERR_FLAKE_REPLAY: 'exclude POST requests from the cache. [Replayed responses](service/client.md#replayed-responses)',
  ERR_FLAKE_BACKFILL:
    'use another time, or reserve more nodes. `timestamp` has the time. [IDs for existing rows](data/backfill.md#reserve-node-numbers)',
  ERR_FLAKE_LOAD: '[It does not load](#it-does-not-load)',

  FLAKEFORGE_ELSE_FROM: 'correct the URL in [`elseFrom`](service/else-from.md#a-wrong-url-causes-no-duplicates)',
  FLAKEFORGE_EPOCH: 'pass milliseconds or a Date',
  FLAKEFORGE_HORIZON:
    'plan a move to another [layout or epoch](run/monitoring.md#before-a-layout-ends), in a new column',
  FLAKEFORGE_NODE_IN_USE:
    'give the group fewer `slots`, so that none has [the node of the function](data/database-defaults.md#the-node)',
  FLAKEFORGE_NODE_ZERO: 'use [`join()`](run/pm2.md), or give each worker its own number',
  FLAKEFORGE_QUIET: 'nothing now. Next time run `create` first. [Why `join()` waits](#join-takes-65-s)',
  FLAKEFORGE_RENEWAL: 'look at the store before the window ends: the message says when that is',
  FLAKEFORGE_SPLIT_BRAIN:
    'change the setting that the message names, or [stop the old primary](store/what-can-go-wrong.md#one-primary) at each promotion',
  FLAKEFORGE_STORE_AWAY:
    'start the server that the message names before another server of the list stops. [When one is away](store/quorum.md#what-happens-when)',
  FLAKEFORGE_STORE_LIST:
    'restart the process with the list that the message names. [Another machine](store/quorum.md#to-replace-a-machine)',
  FLAKEFORGE_TIME: 'pass Unix milliseconds, a Date, or a bigint of nanoseconds',
  FLAKEFORGE_VARIABLE:
    'correct the name, or remove the variable. [All variables](reference/options.md#environment-variables)',
  FLAKEFORGE_WAIT:
    'check whether the address is that of a replica. [Temporary refusals](store/choosing.md#temporary-refusals)',
  FLAKEFORGE_WASM:
    'nothing, if its [limits](reference/platforms.md#webassembly) suit you. Otherwise install again with optional packages',
}
