// The time limits of this room. No other file of it has a number of milliseconds, so the promised sums can be computed:
// __test__/stores/time-budget.test.mjs does, and fails if a limit no longer fits into its sum.
//
// Limits nest: an answer ends before its call, and a call before its step, and the first to end names in its error what did
// not answer.

const SECOND_MS = 1_000

/** All limits, in milliseconds. */
export const BUDGET = {
  // A step on a database, and its parts.

  /** a step with all its reads and swaps */
  STEP_MS: 10_000,
  /** one call to a server. A pool may wait forever for a connection, a client for its server, and a server for a lock */
  CALL_MS: 9_000,
  /**
   * One answer of one connection or endpoint: after that it may have died silently, and another one is tried. An election
   * among members of etcd is over within two seconds.
   */
  ANSWER_MS: 5_000,
  /** when a client library itself gives up a query: after the call, because the error of the call is more informative */
  QUERY_MS: 9_000 + SECOND_MS,
  /** one connection of our own client */
  CONNECT_MS: 5_000,
  /** one Sentinel of Redis: after that the next one is asked */
  SENTINEL_MS: 1_200,
  /** when a call without an answer counts as lost, although its client says nothing: a server that hangs gets one a minute */
  GIVEN_UP_MS: 60_000,
  /** the pause before our own client tries to connect again */
  RECONNECT_MS: 100,
  /** asking whether a statement still runs needs no lock and no disk: a working server answers in this time */
  STILL_RUNS_MS: 2_000,
  /** how long a statement waits for a lock, in whole seconds for MySQL: a backup or VACUUM FULL holds it for longer */
  LOCK_MS: 1_000,
  /** how long mariadb waits for a ping on a connection that still runs a statement, before it closes the connection */
  PING_MS: 1,
  /** how long the connection to Redis is blocked while the server asks its replicas for their positions */
  WAIT_MS: 1,
  /** a connection that died unnoticed fails within this time; a server that does not answer takes longer */
  DEAD_CONNECTION_MS: 1_000,
  /** replicas of Redis acknowledge once per second: two of their reports */
  ACKNOWLEDGEMENT_MS: 2_000,
  /** how long a setting of the server counts: an operator may change it while members run */
  SETTINGS_LAST_MS: 60_000,
  /** between two checks of the replicas' acknowledgements, and between two attempts of a statement that came second */
  SHORT_PAUSE_MS: 50,
  /** between two attempts of a step that came second */
  STEP_PAUSE_MS: 250,
  /** etcd's clock is the `Date` header: whole seconds, rounded down */
  ETCD_CLOCK_STEP_MS: 999,
  /** creating a group warns if it has to wait longer than this */
  LONG_CREATE_MS: 10_000,

  // A lease, as its user sees it.

  /** how often a member in a folder looks whether its group was destroyed: it reads memory that all members share */
  FOLDER_LOOK_MS: 200,
  /** how long detach() waits for the store to take the slot back */
  RELEASE_MS: 4_000,
  /** how long close() then waits for our own client to end */
  CLIENT_END_MS: 900,
  /** the last attempt to get a slot, after waitMs */
  LAST_LOOK_MS: 900,
  /** how long join() looks for functions of the database that generate IDs, if it has that time */
  FUNCTIONS_MS: 500,
  /** when join() ends at the latest, after waitMs */
  JOIN_ENDS_MS: 1_000,
  /** how long a failed join() then waits for our own client to end */
  CLIENT_AFTER_FAILURE_MS: 100,
  /** how long our own client waits for the store's answer after an abort: a slot that is still granted is released */
  CLIENT_AFTER_ABORT_MS: 1_000,
  /** how long our own client itself takes to end: all work is done by then, except for a step that is stuck */
  CLIENT_STUCK_MS: 5_000,
  /** the time to the next attempt that an error suggests during a renewal: the event loop decides */
  POLL_MS: 10,
  /** the usual ttlMs, the shortest, the usual skewMs and the usual waitMs */
  USUAL_TTL_MS: 30_000,
  SHORTEST_TTL_MS: 2_000,
  USUAL_SKEW_MS: 5_000,
  USUAL_WAIT_MS: 90_000,

  // A counter, and the servers behind `elseFrom`.

  /** how long close() waits for the counter's pending call */
  COUNTER_END_MS: 4_000,
  /** from a fill of a store that another client was at to the next try */
  FILL_AGAIN_MS: 500,
  /** from a failed call of a counter to the next one, while calls wait */
  COUNTER_RETRY_MS: 100,
  /** for this long after all servers failed, none is asked: meanwhile all waiting calls get the error */
  SERVERS_PAUSE_MS: 1_000,
} as const

/** Limits by name. A test passes others. */
export type Budget = { readonly [Name in keyof typeof BUDGET]: number }

/** One store of several has this part of a call for an answer: one that is away leaves time for further attempts. */
export const PART_OF_A_STORE: number = 1 / 4

/** Rounded up to whole seconds. */
export const roundedUp = (ms: number): number => Math.ceil(ms / SECOND_MS) * SECOND_MS

export const secondsOf = (ms: number): number => ms / SECOND_MS

/**
 * The pace of core/src/lease/pace.rs, as parts of ttlMs: when a window is renewed at the latest, the longest pause after a
 * first failure, and when users are told that a renewal has no answer.
 */
export const PACE: { RENEWAL: number; PAUSE: number; TOLD: number } = { RENEWAL: 0.367, PAUSE: 0.055, TOLD: 0.5 }

/**
 * The longest step of a renewal, as a part of ttlMs. With a short ttlMs, a connection that died silently would otherwise take
 * up the whole window.
 */
export const RENEWAL_STEP: number = 1 / 3

/** How long the step of a renewal may take. */
export const renewalStepMs = (ttlMs: number, share: number = RENEWAL_STEP): number =>
  Math.min(BUDGET.STEP_MS, Math.floor(ttlMs * share))

/** A promise to users, or a requirement among the limits: a sum of limits, and its bound. */
export type Promised = { what: string; takes: number; within: number }

/** Timers come late. */
const SLACK_MS = 100

/** All sums of limits. */
export function promisesOf(limits: Budget, ttlMs: number, share: number = RENEWAL_STEP): Promised[] {
  const close = limits.RELEASE_MS + limits.CLIENT_END_MS
  const closeOfCounter = limits.COUNTER_END_MS + limits.CLIENT_END_MS
  const join = limits.LAST_LOOK_MS + limits.CLIENT_AFTER_FAILURE_MS
  const renewal = (PACE.RENEWAL + PACE.PAUSE + share) * ttlMs
  return [
    { what: 'close() ends within 5 s', takes: close + SLACK_MS, within: 5 * SECOND_MS },
    { what: 'close() of a counter ends within 5 s', takes: closeOfCounter + SLACK_MS, within: 5 * SECOND_MS },
    { what: 'join() ends within 1 s after waitMs', takes: join, within: limits.JOIN_ENDS_MS },
    { what: 'renewal-failed comes at half of the window', takes: PACE.TOLD * ttlMs, within: ttlMs / 2 },
    { what: 'renewals begin before that', takes: PACE.RENEWAL * ttlMs, within: PACE.TOLD * ttlMs },
    { what: 'a renewal without an answer leaves a fifth of the window', takes: renewal, within: 0.8 * ttlMs },
    { what: 'a call ends before its step', takes: limits.CALL_MS + limits.DEAD_CONNECTION_MS, within: limits.STEP_MS },
    {
      what: 'a call has an answer and a question',
      takes: limits.ANSWER_MS + limits.STILL_RUNS_MS,
      within: limits.CALL_MS,
    },
    { what: 'a query ends after its call', takes: limits.CALL_MS + SECOND_MS, within: limits.QUERY_MS },
    { what: 'a connection is made within an answer', takes: limits.CONNECT_MS, within: limits.ANSWER_MS },
    {
      what: 'of several stores, two without an answer leave half of a call',
      takes: 2 * PART_OF_A_STORE * limits.CALL_MS,
      within: limits.CALL_MS / 2,
    },
    {
      what: 'two Sentinels without an answer leave time for a third and the primary',
      takes: 4 * limits.SENTINEL_MS,
      within: limits.ANSWER_MS,
    },
    { what: 'replicas acknowledge within an answer', takes: limits.ACKNOWLEDGEMENT_MS, within: limits.ANSWER_MS },
  ]
}
