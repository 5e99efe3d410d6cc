// Whether this Redis keeps all acknowledged writes, as `durable: true` promises. Settings that it does not show count as
// unsafe. (A Redis that loads its file refuses every script itself.)
//
// INFO shows most of them, in a script and so on the primary. How the append-only file is synced is shown only by CONFIG GET,
// which scripts may not call and many providers forbid. A check takes two more round trips.

import { storeError, unusableOptionError, useAnother } from '../../base/errors.ts'

/** Follows server.ts. */
export const SCRIPT = /* lua */ `
return { redis.call('INFO', 'cluster'), redis.call('INFO', 'replication'), redis.call('INFO', 'persistence'), redis.call('INFO', 'memory') }
`

const PROMOTED =
  'a replica that takes over may lack acknowledged writes, so durable is for a server without replicas. Remove them'

/** A setting, its valid values, and the fault of others. */
type Fact = [string, RegExp, string]

/** From INFO. */
const FACTS: Fact[] = [
  [
    'cluster_enabled',
    /^0$/,
    `a cluster moves groups between servers, so durable is for a single server. For that, ${useAnother('server')}`,
  ],
  ['connected_slaves', /^0$/, PROMOTED],
  ['aof_enabled', /^1$/, 'it loses everything in a restart. Set appendonly yes'],
  ['aof_last_write_status', /^ok$/, 'its last write to the append-only file failed. Free space on its disk'],
  ['maxmemory_policy', /^(noeviction|volatile-\w+)$/, 'it may evict records. Set maxmemory-policy noeviction'],
]

/** From INFO, for the first check. Later it is not informative: tools that copy the data are replicas for a moment. */
const NO_REPLICA_BEFORE: Fact = ['repl_backlog_active', /^0$/, `it had a replica a short time ago, and ${PROMOTED}`]

/**
 * From INFO: whether the append-only file is being rewritten, or will be. While it is first written (after CONFIG SET
 * appendonly yes) a restart loses everything; only an earlier check can rule that out.
 */
const REWRITES = ['aof_rewrite_in_progress', 'aof_rewrite_scheduled']

/** From CONFIG GET. */
const SETTINGS: Fact[] = [
  ['appendfsync', /^always$/, 'it acknowledges writes before they are on the disk. Set appendfsync always'],
  [
    'no-appendfsync-on-rewrite',
    /^no$/,
    'it acknowledges writes before they are on the disk. Set no-appendfsync-on-rewrite no',
  ],
]

const refusal = (why: string) => unusableOptionError('durable', true, `on this Redis: ${why}. Or leave durable out.`)

function check([name, isRight, why]: Fact, value: string | undefined) {
  if (value === undefined) {
    throw refusal(`it does not show ${name}. Let the user run INFO and CONFIG GET (ACL: +info +config|get)`)
  }
  if (!isRight.test(value)) throw refusal(`its ${name} is ${value}, and ${why}`)
}

/** One client's knowledge of its server. */
export class Durability {
  #isKnown = false // true once the server was found durable, until its append-only file is turned off

  /**
   * Throws if this Redis may lose acknowledged writes.
   * @param sections the script's reply
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
