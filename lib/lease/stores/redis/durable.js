'use strict'
// @ts-check

// Whether this Redis keeps all that it acknowledges, which `durable: true` vouches for. It must never take what it
// cannot see for good.
//
// INFO shows most of it, in a script and so on the primary. How the append-only file is synced, only CONFIG GET shows,
// which scripts may not call and many providers forbid.

const { unusableOptionError } = require('../../../base/errors.js')

/** Follows server.js. */
const SCRIPT = /* lua */ `
return { redis.call('INFO', 'cluster'), redis.call('INFO', 'replication'), redis.call('INFO', 'persistence'), redis.call('INFO', 'memory') }
`

const PROMOTED = 'a replica that takes over may lack what was acknowledged. Use a server without replicas'

/**
 * A name, which values are right, and what is wrong with others.
 * @typedef {[string, RegExp, string]} Fact
 */

/**
 * Of INFO.
 * @type {Fact[]}
 */
const FACTS = [
  ['cluster_enabled', /^0$/, 'a cluster moves groups between servers. Use a single server'],
  ['connected_slaves', /^0$/, PROMOTED],
  ['repl_backlog_active', /^0$/, `it had a replica a short time ago, and ${PROMOTED}`],
  ['aof_enabled', /^1$/, 'it loses everything in a restart. Set appendonly yes'],
  ['maxmemory_policy', /^(noeviction|volatile-\w+)$/, 'it may evict records. Set maxmemory-policy noeviction'],
]

/**
 * Of CONFIG GET.
 * @type {Fact[]}
 */
const SETTINGS = [
  ['appendfsync', /^always$/, 'it acknowledges writes before they are on the disk. Set appendfsync always'],
  [
    'no-appendfsync-on-rewrite',
    /^no$/,
    'it acknowledges writes before they are on the disk. Set no-appendfsync-on-rewrite no',
  ],
]

/** @param {string} why */
const refusal = (why) => unusableOptionError('durable', true, `on this Redis: ${why}, or leave durable out.`)

/**
 * @param {Fact} fact
 * @param {string | undefined} value
 */
function check([name, isRight, why], value) {
  if (value === undefined) {
    throw refusal(`it does not show ${name}. Let the user run INFO and CONFIG GET (ACL: +info +config|get)`)
  }
  if (!isRight.test(value)) throw refusal(`its ${name} is ${value}, and ${why}`)
}

/**
 * Throws if this Redis may lose what it acknowledged.
 * @param {(string | null)[]} sections what the script replied
 * @param {(name: string) => Promise<string | undefined>} setting asks the server for a setting
 */
async function checkDurable(sections, setting) {
  const lines = new Map()
  for (const line of sections.join('\n').split(/\r?\n/)) {
    const [name, value] = line.split(':', 2)
    lines.set(name, value)
  }
  for (const fact of FACTS) check(fact, lines.get(fact[0]))
  for (const one of SETTINGS) check(one, await setting(one[0]))
}

module.exports = { SCRIPT, checkDurable }
