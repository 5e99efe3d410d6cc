// How long stores may take. A call must have less time than the step that it belongs to: then it is the call that ends,
// and its error says what did not answer.

/** A step on a database, with all its reads and swaps. */
export const STEP_MS = 10_000

/** One call to a server. A pool may wait forever for a connection, a client for its server, and a server for a lock. */
export const CALL_MS = 9_000

/**
 * One answer of one connection or endpoint: after that it may be dead without a word, and another one is tried. An election
 * among members of etcd is over within two seconds.
 */
export const ANSWER_MS = 5_000
