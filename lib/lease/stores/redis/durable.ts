// Whether this Redis keeps all that it acknowledges, which `durable: true` vouches for. It must never take what it
// cannot see for good. (A Redis that loads its file refuses every script by itself.)
//
// INFO shows most of it, in a script and so on the primary. How the append-only file is synced, only CONFIG GET shows,
// which scripts may not call and many providers forbid. A look takes two more round trips.

import { storeError, unusableOptionError } from '../../../base/errors.ts'

/** Follows server.ts. */
export const SCRIPT = /* lua */ `
return { redis.call('INFO', 'cluster'), redis.call('INFO', 'replication'), redis.call('INFO', 'persistence'), redis.call('INFO', 'memory') }
`

const PROMOTED = 'a replica that takes over may lack what was acknowledged. Use a server without replicas'

/** A name, which values are right, and what is wrong with others. */
type Fact = [string, RegExp, string]

/** Of INFO. */
const FACTS: Fact[] = [
  ['cluster_enabled', /^0$/, 'a cluster moves groups between servers. Use a single server'],
  ['connected_slaves', /^0$/, PROMOTED],
  ['aof_enabled', /^1$/, 'it loses everything in a restart. Set appendonly yes'],
  ['aof_last_write_status', /^ok$/, 'its last write to the append-only file failed. Make room on its disk'],
  ['maxmemory_policy', /^(noeviction|volatile-\w+)$/, 'it may evict records. Set maxmemory-policy noeviction'],
]

/**
 * Of INFO, for who has not looked before. Later it says nothing: tools that copy the data are replicas for a moment.
 */
const NO_REPLICA_BEFORE: Fact = ['repl_backlog_active', /^0$/, `it had a replica a short time ago, and ${PROMOTED}`]

/**
 * Of INFO: whether the append-only file is being written anew, or will be. While it is written for the first time (after
 * CONFIG SET appendonly yes) a restart forgets everything; only who looked before it began can tell that it is not.
 */
const REWRITES = ['aof_rewrite_in_progress', 'aof_rewrite_scheduled']

/** Of CONFIG GET. */
const SETTINGS: Fact[] = [
  ['appendfsync', /^always$/, 'it acknowledges writes before they are on the disk. Set appendfsync always'],
  [
    'no-appendfsync-on-rewrite',
    /^no$/,
    'it acknowledges writes before they are on the disk. Set no-appendfsync-on-rewrite no',
  ],
]

const refusal = (why: string) => unusableOptionError('durable', true, `on this Redis: ${why}, or leave durable out.`)

function check([name, isRight, why]: Fact, value: string | undefined) {
  if (value === undefined) {
    throw refusal(`it does not show ${name}. Let the user run INFO and CONFIG GET (ACL: +info +config|get)`)
  }
  if (!isRight.test(value)) throw refusal(`its ${name} is ${value}, and ${why}`)
}

/** What one client knows of its server. */
export class Durability {
  #isKnown = false // whether it was durable, and its append-only file was not turned off since

  /**
   * Throws if this Redis may lose what it acknowledged.
   * @param sections what the script replied
   * @param setting asks the server for a setting
   */
  async check(sections: (string | null)[], setting: (name: string) => Promise<string | undefined>) {
    const lines = new Map()
    for (const line of sections.join('\n').split(/\r?\n/)) {
      const [name, value] = line.split(':', 2)
      lines.set(name, value)
    }
    if (lines.get('aof_enabled') !== '1') this.#isKnown = false
    for (const fact of FACTS) check(fact, lines.get(fact[0]))
    for (const one of await Promise.all(SETTINGS.map(async (fact) => ({ fact, value: await setting(fact[0]) })))) {
      check(one.fact, one.value)
    }
    if (!this.#isKnown) checkFirst(lines)
    this.#isKnown = true
  }
}

function checkFirst(lines: Map<string, string>) {
  check(NO_REPLICA_BEFORE, lines.get(NO_REPLICA_BEFORE[0]))
  const rewrite = REWRITES.find((name) => lines.get(name) !== '0')
  if (rewrite === undefined) return
  const why = `its ${rewrite} is ${lines.get(rewrite)}, and until its append-only file is complete a restart may lose all`
  throw storeError(`durable (true) cannot be used on this Redis yet: ${why}. Try again when it is 0.`)
}
