// What a Redis says when it certainly wrote nothing, and the way out. A script writes once, as the last thing it does, so an
// error that stops the script means that nothing was written.

/** What the store sends and its scripts call. Also in docs/store/redis.md, which a test compares. */
const RIGHTS = '+evalsha +eval +time +info +select +wait +client|info +hget +hmget +hset +hkeys'

const WAYS_OUT: [RegExp, string][] = [
  [
    /NOPERM|can't run this command|no permissions/i,
    `Give its user these rights: ${RIGHTS} and the keys ~flakeforge:* (ACL SETUSER).`,
  ],
  [/\bOOM\b/, 'Raise its maxmemory or remove other keys; keep maxmemory-policy noeviction.'],
  [/\bMISCONF\b/, 'Make room on its disk, so that it can save.'],
  [/\bREADONLY\b/, 'Use a client that finds the primary.'],
  [/\bNOREPLICAS\b/, 'It takes writes when enough replicas follow it again (min-replicas-to-write).'],
]

/** The way out if the server certainly refused; undefined for any other error. */
export const wayOutOf = (message: string) => WAYS_OUT.find(([said]) => said.test(message))?.[1]
