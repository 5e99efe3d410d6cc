type Whole<_T> = number
type Millis = number
type Big = bigint
type Token = string // 32 hex digits
type Call = 'acquire' | 'renew' | 'release'

/** Generates IDs of past times for one member. */
export declare class Backfill {
  /** `nodes`: the node numbers that have no slot, the highest first. */
  constructor(layout: Layout, nodes: Array<Whole<number>>)
  /** An ID of the moment that contains this Unix ms. */
  take(unixMs: Whole<number>): PastId
  /** A counter gave `by` numbers from `first` on. */
  given(record: string, first: Big, by: Big): void
}

/** A generator. */
export declare class Generator {
  /** The index of this generator in the scratch array. */
  get index(): number
  /** Records a wait of `ms` milliseconds for an ID. */
  waited(ms: Millis): void
  /** For the generator of a lease: ends its window at `hi`, and starts it at `lo` if that is later; Unix ms. */
  raise(lo: Whole<number>, hi: Whole<number>): void
  /** For the generator of a lease: stops generating IDs. Returns the last ms (Unix) in which one was generated, or −1. */
  retire(): number
  /** What is wrong with the cursor's file, after a call that reported a failure. */
  fault(): Problem | null
  /** The statistics so far. */
  stats(): Stats | null
  /** Closes its file now, instead of when this object is collected. Only the statistics remain. */
  close(): void
}

/** The generators of one load of the module. */
export declare class Generators {
  /** The generator for these options. If one is already open, this is the same one. */
  open(layout: Layout, options: GeneratorOptions): Generator | Problem
  /** The same with a cursor in a file. */
  openShared(layout: Layout, options: GeneratorOptions, path: string): Generator | Problem
  /** The generator of a lease, for the window from `lo` to `hi`, Unix ms, both included. */
  openWindow(layout: Layout, options: GeneratorOptions, lo: Whole<number>, hi: Whole<number>): Generator | Problem
  /** The generator of a lease, on a slot file. */
  openSlot(layout: Layout, options: GeneratorOptions, slot: Slot): Generator | Problem
  /** `scratch`: the array of `lib/native/hot.ts`, over shared memory. */
  constructor(scratch: Uint8Array)
  /** The raw functions. They find their generator through the scratch array. */
  functions(): object
  /** What all generators of this load of the module have done, per layout and group. */
  totals(): Array<Totals>
}

/** One step, from the task to the answer. */
export declare class GrantStep {
  /** What to do first; call this once. */
  begin(): StepAsk
  /** Takes the result of a read. */
  read(look: StepLook, fresh: Token): StepAsk
  /** Takes whether a swap was answered cleanly. */
  swapped(isClean: boolean, fresh: Token): StepAsk
  /** Takes the names of a group's records. */
  named(names: Array<string>, fresh: Token): StepAsk
}

/** A layout with its epoch and options. */
export declare class Layout {
  /** The layout for these options. */
  constructor(options: LayoutOptions)
  /** How the numbers of a cursor express ticks. */
  get scale(): Scale
  /** The Unix ms that contains the start of the first tick at or after `ms`. */
  firstMs(ms: Whole<number>): number
  /** What the members of a group must have in common, as text. */
  get fingerprint(): string
  /** The first whole Unix ms that is too late for the layout. */
  get end(): number
  /** The first whole Unix ms at which IDs have the top bit set. */
  get signedEnd(): number
  /** The first whole Unix ms at which IDs may be above 2^53 − 1, or `end`. */
  get exactEnd(): number
}

/** The state machine of a lease's holder. */
export declare class LeaseMachine {
  /** Holds no slot. */
  constructor(config: MachineConfig)
  /** Takes an event at the local time `now`, Unix ms. `fresh` was never used before. */
  step(event: MachineEvent, now: Whole<number>, fresh: Token): Array<MachineAction>
  /** attached, detached or destroyed */
  get state(): string
  /** The held slot. */
  get slot(): number | null
  /** The last ms of the window. */
  get hi(): number | null
  /** Whether the search continues until a slot is open. */
  get isRecovering(): boolean
  /** Whether an answer to this request still counts. */
  awaits(asked: Call, owner: Token): boolean
  /** Whether no answer of the store is pending. */
  get isSettled(): boolean
  /** Whether a renewal is in progress. */
  get isRenewing(): boolean
  /** Whether the last renewal failed or has no answer. */
  renewalsFail(now: Whole<number>): boolean
}

/** What one client of several stores remembers from step to step, and the steps that it can take. */
export declare class QuorumMemory {
  /** `labels`: those of three or five stores. `coming`: how many more there are at their end, for a change of the list. */
  constructor(labels: Array<string>, coming?: Whole<number> | undefined | null)
  /** A snapshot of these records. `how`: what it may change; `look` makes no seats, and `readExisting` starts no era. */
  read(group: string, names: Array<string>, how: 'read' | 'readExisting' | 'look', bounds: QuorumBounds): QuorumStep
  /** A conditional write. `from`: absent if there is no record; `history`: that of the read. */
  swap(group: string, name: string, from: string | undefined | null, to: string, history: string, bounds: QuorumBounds): QuorumStep
  /** The names that any store of a majority lists. */
  names(group: string, bounds: QuorumBounds): QuorumStep
  /** Makes a store vote again. `store`: its place in the list. */
  fill(group: string, store: Whole<number>, bounds: QuorumBounds): QuorumStep
  /** Changes the list to these labels. What is new in it has to be filled afterwards. */
  change(group: string, to: Array<string>, bounds: QuorumBounds): QuorumStep
}

/** One step, from the task to the answer. After the answer it still takes late events. */
export declare class QuorumStep {
  /** What to do first; call this once. */
  begin(now: number, fresh: Token): Array<QuorumAct>
  /** Takes the result of a read. */
  read(call: Whole<number>, look: StepLook, now: number, fresh: Token): Array<QuorumAct>
  /** Takes whether a swap was answered cleanly. An error or no answer is false. */
  swapped(call: Whole<number>, isClean: boolean, now: number, fresh: Token): Array<QuorumAct>
  /** Takes the names of a store's records. */
  named(call: Whole<number>, names: Array<string>, now: number, fresh: Token): Array<QuorumAct>
  /** The call ended with an error, or without an answer in time. */
  failed(call: Whole<number>, now: number, fresh: Token): Array<QuorumAct>
  /** The timer of an act `wake` has rung. */
  woke(call: Whole<number>, now: number, fresh: Token): Array<QuorumAct>
  /** What this step has seen of each store, in the order of the list. */
  seats(): Array<QuorumSeat>
  /** The list of the group, labels with spaces in between, if it was changed and is another one than this client's. */
  newerList(): string | null
}

/** A key and a tweak. */
export declare class Seal {
  /** A seal with this key and tweak, for the raw functions of these generators. It keeps neither array. */
  constructor(generators: Generators, key: Uint8Array, tweak: Uint8Array)
  /**
   * What the raw functions `seal()` and `open()` find this seal by, while it lives. One of their calls takes 20 ns more than
   * the seal itself, where a method with an array takes 400.
   */
  get index(): number
  /** Seals IDs in place, 8 bytes each, big-endian. */
  seal(ids: Uint8Array): void
  /** Opens IDs in place, 8 bytes each, big-endian. */
  open(ids: Uint8Array): void
  /** Replaces sealed IDs by their codes in place, 8 bytes each, big-endian. */
  check(ids: Uint8Array): void
  /** Seals IDs in place, each a number in the byte order of this machine. */
  sealNumbers(ids: Uint8Array): void
  /** Opens IDs in place, each a number in the byte order of this machine. */
  openNumbers(ids: Uint8Array): void
}

/** A slot, held until it is released or this object is collected. */
export declare class Slot {
  /** Its number. */
  get slot(): number | null
  /** Identifies its group: 16 hex digits. */
  get lineage(): string | null
  /** Whether its group was destroyed: a look at memory that all members of the machine share. */
  get isDestroyed(): boolean
  /** The time from the current tick, whose used part the cursor in the file knows, to the end of its mark. */
  get window(): Window | null
  /** Moves the window forward. Returns null if that worked, or 'lost' or 'destroyed' if the slot is no longer held. */
  renew(): string | Problem | null
  /** Gives the slot back. `last`: the last Unix ms used, if the holder does not take numbers from the file. */
  release(last: Whole<number>): void
}

/** A group of slots. */
export declare class SlotFolder {
  /** Whether opening the group created it. */
  get isNew(): boolean
  /** Takes a free slot. */
  acquire(owner: Token, host: string): Promise<Slot | NoSlot | Problem>
  /** Closes its file now, instead of when this object is collected. */
  close(): void
}

/** What one client of a store remembers from step to step, and the steps that it can take. */
export declare class StoreMemory {
  /** Remembers nothing yet. */
  constructor()
  /** Starts a step on the group or counter of this name. `fresh` was never used before, here and below. */
  step(name: string, task: StepTask, fresh: Token): GrantStep
}

/** Advances a counter; null if it was destroyed. */
export declare function advanceCounter(store: string, name: string, by: Big, init?: Big | undefined | null): Promise<CounterBlock | Problem | null>

/**
 * Takes numbers for a past time. `record` counts them, and `is_known` tells whether this process knows it. Null if the
 * group of this lineage was destroyed.
 */
export declare function advancePast(store: string, group: string, record: string, by: Big, lineage: Big, isKnown: boolean): Promise<CounterBlock | Problem | null>

/** The names of the bases, in the order of their indexes in the raw functions. */
export declare function bases(): Array<string>

/** A block of numbers from a counter. */
export interface CounterBlock {
  /** the first one */
  number: bigint
  /** identifies the counter: 16 hex digits */
  lineage: string
}

/** A counter, as described by its file. */
export interface CounterRow {
  /** its name */
  name: string
  /** the start of the next block */
  next: bigint
  /** identifies the counter: 16 hex digits */
  lineage: string
}

/** Ends a counter for all members. */
export declare function destroyCounter(store: string, name: string): Promise<Problem | null>

/** Ends a group for all members. */
export declare function destroySlots(store: string, group: string): Promise<Problem | null>

/** A big-endian number of any length as text; null if there is no such base. */
export declare function digits(bytes: Uint8Array, base: string): string | null

/** Options that `lib/generator/options.ts` has validated. */
export interface GeneratorOptions {
  /** the whole node number */
  node: Whole<bigint>
  /** largest counter */
  seqMask: Whole<bigint>
  /** may be Infinity */
  maxAheadMs: Millis
  /** whether ticks start at a random counter */
  isStartRandom?: boolean
  /** how many numbers to claim before they are needed; none if absent */
  prefetch?: Whole<number>
  /** how long they may be returned; 0 means forever */
  validityMs: Millis
  /** whether the caller sets the time before each call */
  ownClock: boolean
  /** the group, for the generator of a lease */
  group?: string
}

/** The folder of a group, whether it exists or not. */
export declare function groupFolder(store: string, group: string): string

/** Whether this process has not issued this warning yet. The first caller should issue it. */
export declare function isFirstToWarn(of: string): boolean

/** The source of a layout: a dialect's name, or a spec. */
export interface LayoutOptions {
  /** the name of the dialect or of the spec */
  name: string
  /** a custom layout */
  spec?: LayoutSpec
  /** Unix ms of tick 0; the dialect's own if absent */
  epoch?: Whole<number>
  /** snowcast: how many nodes */
  nodes?: Whole<number>
  /** 'spread' or 'sequential' */
  mode?: string
  /** added to every ID */
  idOffset?: bigint
}

/** The bits of a custom layout. */
export interface LayoutSpec {
  /** length of a tick */
  tickNs: Whole<bigint>
  /** names, the most significant first */
  names: Array<string>
  /** widths, in the same order */
  widths: Array<Whole<number>>
}

/** The counters of a store. */
export declare function listCounters(store: string): Array<CounterRow> | Problem

/** The names of a store's groups. */
export declare function listGroups(store: string): Array<string> | Problem

/** The slots of a group that were ever held. */
export declare function listSlots(store: string, group: string): SlotRows | Problem

/** The maximum ttl of a group, ms. */
export declare const LONGEST_TTL_MS: number

/** What to do. `lo` and `hi` are the first and the last ms of a window, `at` is Unix ms. */
export type MachineAction =
  | { type: 'acquire'; owner: Token }
  | { type: 'renew'; owner: Token; slot: number; hi: number }
  | { type: 'retire' }
  | { type: 'release'; owner: Token; slot: number }
  | { type: 'giveBack'; owner: Token; slot: number }
  | { type: 'end' }
  | { type: 'open'; owner: Token; slot: number; lo: number; hi: number }
  | { type: 'raise'; lo: number; hi: number }
  | { type: 'wait'; at: number }
  | { type: 'resolve' }
  | { type: 'reject'; why: string }
  | { type: 'tell'; event: string }

/** The durations that a lease uses. */
export interface MachineConfig {
  /** how long a window reaches beyond the store's time */
  ttlMs: Whole<number>
  /** how long `attach` waits */
  waitMs: Whole<number>
}

/** What happened. */
export type MachineEvent =
  | { type: 'attach' }
  | { type: 'seek' }
  | { type: 'detach' }
  | { type: 'destroy' }
  | { type: 'time' }
  | { type: 'giveUp' }
  | { type: 'renewNow' }
  | { type: 'opened'; owner: Token }
  | { type: 'inUse'; owner: Token }
  | { type: 'ended' }
  | { type: 'granted'; owner: Token; slot: Whole<number>; lo: Whole<number>; hi: Whole<number> }
  | { type: 'renewed'; owner: Token; lo: Whole<number>; hi: Whole<number> }
  | { type: 'lost'; owner: Token }
  | { type: 'destroyed'; asked: Call; owner: Token }
  | { type: 'released'; owner: Token }
  | { type: 'failed'; asked: Call; owner: Token; failure: MachineFailure }

/** Why a call to the store failed. `retry_at`: when to try again, by the store's clock. */
export type MachineFailure =
  | { why: 'store' }
  | { why: 'passing' }
  | { why: 'quiet'; retryAt: Whole<number>; storeNow: Whole<number> }
  | { why: 'exhausted'; retryAt: Whole<number>; storeNow: Whole<number> }
  | { why: 'skew' }
  | { why: 'fatal' }

/** Makes this copy use the registry of the first one that was loaded. If that is impossible, returns the two copies. */
export declare function meetCopies(): Strangers | null

/** Why there is no slot. */
export interface NoSlot {
  /** when to look again, Unix ms; absent if the group was destroyed */
  retryAt?: number
  /** the time now, Unix ms */
  storeNow: number
  /** identifies the group: 16 hex digits */
  lineage: string
}

/** Opens the group of this name in a store's folder; creates it if there is none. */
export declare function openSlots(store: string, group: string, config: SlotFolderConfig): Promise<SlotFolder | Problem>

/** The answer to a request for an ID. */
export type PastId =
  | { type: 'id'; id: bigint }
  | { type: 'ask'; record: string; by: bigint }
  | { type: 'full' }
  | { type: 'outOfRange' }

/** Why there is no generator; what is absent is null, because JavaScript would inherit it from Object.prototype: `theirs` and `ours` differ, or `path` cannot be used because of `why`. */
export interface Problem {
  /** the purpose of the existing one */
  theirs: string | null
  /** the requested purpose */
  ours: string | null
  /** a file */
  path: string | null
  /** what is wrong with it, and what to do */
  why: string | null
}

/** What to do. `store`: its place in the list. All acts of an event are carried out at once; each `call` gets one event. */
export type QuorumAct =
  | { type: 'read'; call: number; store: number; names: Array<string> }
  | { type: 'swap'; call: number; store: number; name: string; from?: string; to: string; history: string; process: string }
  | { type: 'names'; call: number; store: number }
  | { type: 'wake'; call: number; ms: number }
  | { type: 'fill'; store: number }
  | { type: 'note'; note: 'torn' | 'completed' | 'beaten' | 'unknown' | 'era' | 'filled' }
  | { type: 'done'; answer: QuorumAnswer }

/** The result of a step; from `NoMajority` on, why there is none. */
export type QuorumAnswer =
  | { type: 'read'; now: number; history: string; values: Array<string | undefined | null> }
  | { type: 'swapped'; isClean: boolean }
  | { type: 'names'; names: Array<string> }
  | { type: 'filled'; isFilled: boolean }
  | { type: 'changed' }
  | { type: 'noMajority'; answered: number }
  | { type: 'skew'; by: number; bound: number }
  | { type: 'torn' }
  | { type: 'unknown' }
  | { type: 'list'; store: number; theirs: string }
  | { type: 'label'; store: number; theirs: string }
  | { type: 'record'; store: number; fault: StepFault }
  | { type: 'nonsense'; store: number; text: string }
  | { type: 'change' }
  | { type: 'newcomer'; store: number }
  | { type: 'spent' }

/** How long a step may take, and how far apart clocks may be. */
export interface QuorumBounds {
  /** after this time, its next decision ends it */
  ms: Whole<number>
  /** between this client and a store */
  skewMs: Whole<number>
}

/** A store, as a step has seen it last. */
export interface QuorumSeat {
  /** its place in the list */
  store: number
  /** what it is for the whole */
  state: 'silent' | 'skewed' | 'damaged' | 'unlisted' | 'empty' | 'lost' | 'starts' | 'fills' | 'apart' | 'behind' | 'votes'
  /** how far its clock is ahead of the client's */
  aheadMs?: number
  /** how often stores were filled */
  epoch?: number
  /** what is wrong with a record of one that is `damaged`; absent if its answer was impossible */
  fault?: StepFault
}

/** How the numbers of a cursor express ticks. */
export interface Scale {
  /** Unix ms of tick 0 */
  epochMs: Whole<number>
  /** length of a tick */
  tickNs: Whole<bigint>
  /** how many bits of a number are the counter */
  counterBits: Whole<number>
}

/** The limits of a seal. */
export declare function sealBounds(): SealBounds

/** The limits of a seal. */
export interface SealBounds {
  /** valid key lengths in bytes */
  keyBytes: Array<number>
  /** the maximum length of a tweak in bytes */
  mostTweakBytes: number
}

/** What the members of a group have in common. */
export interface SlotFolderConfig {
  /** as text, shown if there is a mismatch */
  fingerprint: string
  /** number of slots */
  slots: Whole<number>
  /** how numbers follow from time */
  scale: Scale
}

/** A slot, as described by its file. */
export interface SlotRow {
  /** its number */
  slot: number
  /** 32 hex digits; absent while the slot is free */
  owner?: string
  /** the present or last process that holds it */
  pid?: number
  /** its host name */
  host?: string
  /** when it took the slot, Unix ms */
  since?: number
  /** when the last ID was generated, Unix ms */
  last?: number
  /** how far IDs may go at present, Unix ms */
  hi?: number
}

/** The slots of a group. */
export interface SlotRows {
  /** the slots that were ever held and can be read */
  slots: Array<SlotRow>
  /** what is wrong with the files of other slots */
  faults: Array<Problem>
}

/** Until when slots were in use. */
export interface SlotsUse {
  /** Unix ms; absent if they never were */
  until?: number
}

/** Until when a group of this name had these slots in use; null if the group of this lineage was destroyed. */
export declare function slotsUsedUntil(store: string, group: string, slots: Array<Whole<number>>, lineage: Big): SlotsUse | Problem | null

/** What a generator has done, summed over all generators that share its cursor and rule. */
export interface Stats {
  /** IDs generated */
  ids: number
  /** batches generated */
  batches: number
  /** refusals because the counter of a tick was exhausted */
  overflows: number
  /** times the clock stepped back */
  clockSteps: number
  /** waits for an ID */
  waits: number
  /** total duration of the waits */
  waitedMs: number
  /** how far the last ID is ahead of the clock */
  aheadMs: number
  /** when the counting began, Unix ms */
  sinceMs: number
}

/** The result of a step: an `Answer`, or from `Quiet` on a `StepError`. Times are Unix ms; `now` is the store's. */
export type StepAnswer =
  | { type: 'granted'; slot: number; lo: number; hi: number; now: number }
  | { type: 'lost' }
  | { type: 'destroyed' }
  | { type: 'done' }
  | { type: 'opened'; isNew: boolean; until: number; now: number }
  | { type: 'exists'; isAlive: boolean }
  | { type: 'listed'; rows: Array<StepRow>; faults: Array<StepFault> }
  | { type: 'number'; number: bigint }
  | { type: 'counter'; counter?: StepCounter }
  | { type: 'used'; until?: number }
  | { type: 'quiet'; until: number; now: number }
  | { type: 'exhausted'; until: number; now: number }
  | { type: 'mismatch'; theirs: StepConfig }
  | { type: 'durable'; isDurable: boolean }
  | { type: 'twoServers'; shown: string; recorded: string }
  | { type: 'skew'; by: number; bound: number }
  | { type: 'ended' }
  | { type: 'absent' }
  | { type: 'otherGroup' }
  | { type: 'record'; fault: StepFault }
  | { type: 'gone' }
  | { type: 'counterEnded' }
  | { type: 'behind' }
  | { type: 'full'; number: bigint }
  | { type: 'config'; text: string }
  | { type: 'nonsense'; text: string }

/** What to do next. */
export type StepAsk =
  | { type: 'read'; names: Array<string> }
  | { type: 'swap'; name: string; from?: string; to: string; history: string; process: string }
  | { type: 'names' }
  | { type: 'done'; answer: StepAnswer; lineage?: string }

/** What all members of a group must agree on. */
export interface StepConfig {
  /** as text, shown if there is a mismatch */
  fingerprint: string
  /** number of slots */
  slots: Whole<number>
  /** how far a window reaches beyond the store's time */
  ttlMs: Whole<number>
  /** how far apart clocks may be */
  skewMs: Whole<number>
  /** whether the members vouch for the store */
  durable: boolean
}

/** A counter, as described by its record. */
export interface StepCounter {
  /** the start of the next block */
  next: bigint
  /** whether blocks may be lost, so that it gives none */
  isLost: boolean
  /** whether its members vouch for the store */
  durable: boolean
}

/** A record that cannot be read. */
export interface StepFault {
  /** its name */
  name: string
  /** the version of its format, if that is a newer one */
  version?: number
  /** the release of flakeforge that reads that version, if the record names one */
  needs?: string
}

/** The result of one read. */
export interface StepLook {
  /** the store's clock, Unix ms */
  now: number
  /** the server's history */
  history: string
  /** the server's process */
  process: string
  /** in the order of the names; null for an absent record */
  values: Array<string | undefined | null>
  /** if the store has one */
  position?: bigint
  /** the client's clock before the read, Unix ms */
  before: number
  /** the client's clock after the read */
  after: number
}

/** A slot, as described by its record. */
export interface StepRow {
  /** its number */
  slot: number
  /** absent once it was released */
  owner?: Token
  /** the present or last machine of the holder */
  host: string
  /** first ms of the window */
  lo: number
  /** last ms of the window */
  hi: number
}

/** A task. `host` is the machine that asks for a slot. */
export type StepTask =
  | { type: 'create'; config: StepConfig }
  | { type: 'join'; config: StepConfig; owner: Token; host: string }
  | { type: 'acquire'; config: StepConfig; owner: Token; host: string }
  | { type: 'renew'; config: StepConfig; owner: Token; slot: Whole<number>; hi: Whole<number> }
  | { type: 'release'; config: StepConfig; owner: Token; slot: Whole<number>; last: Whole<number> }
  | { type: 'destroy' }
  | { type: 'restored' }
  | { type: 'list' }
  | { type: 'exists' }
  | { type: 'advance'; by: Big; init?: Big; durable: boolean }
  | { type: 'skipTo'; place: Big; durable: boolean }
  | { type: 'counterRestored' }
  | { type: 'counter' }
  | { type: 'destroyCounter' }
  | { type: 'past'; record: string; by: Big; lineage: Big }
  | { type: 'pastRestored' }
  | { type: 'used'; slots: Array<Whole<number>>; lineage: Big }

/** Two copies of the addon, or this one and the WebAssembly, that cannot share a registry, as paths. */
export interface Strangers {
  /** this copy */
  here: string
  /** the one loaded before */
  there: string
}

/** What all generators of a layout have done; those of a lease are also separated by group. */
export interface Totals {
  /** the layout's name */
  layout: string
  /** the group of the lease; absent for ordinary generators */
  group?: string
  /** IDs generated */
  ids: number
  /** refusals because the counter of a tick was exhausted */
  overflows: number
  /** times the system's clock was seen to step back */
  clockSteps: number
  /** waits for an ID */
  waits: number
  /** total duration of the waits */
  waitedMs: number
  /** how far the last ID is ahead of the clock, the maximum of all generators */
  aheadMs: number
  /** the earliest end of these layouts, Unix ms; absent if the callers set the time of all generators */
  endMs?: number
  /** the same for signed columns */
  signedEndMs?: number
}

/** The release of flakeforge that this addon belongs to. */
export declare function version(): string

/** The time that a holder may use, Unix ms, both ends included. */
export interface Window {
  /** first ms */
  lo: number
  /** last ms */
  hi: number
}
