// Redis errors after which certainly nothing was written, and the remedy. A script's only write is its last action, so an
// error that stops the script means that nothing was written. Some of these reasons are temporary, as in a failover.

/** The commands of the store and of its scripts. Also in docs/store/redis.md, which a test compares. */
const RIGHTS = '+evalsha +eval +time +info +select +wait +client|info +hget +hmget +hset +hkeys'

const LASTING: [RegExp, string][] = [
  [
    /NOPERM|can't run this command|no permissions/i,
    `Give its user these rights: ${RIGHTS} and the keys ~flakeforge:* (ACL SETUSER).`,
  ],
  [/\bOOM\b/, 'Raise its maxmemory or remove other keys; keep maxmemory-policy noeviction.'],
  [/\bMISCONF\b/, 'Free space on its disk, so that it can save.'],
]

const FIND_PRIMARY =
  'Use an address that finds the primary, such as redis-sentinel://HOST:26379#NAME or redis-cluster://HOST:6379, or such a client.'

const PASSING: [RegExp, string][] = [
  [/\bREADONLY\b/, FIND_PRIMARY],
  [/\bNOREPLICAS\b/, 'It takes writes when enough replicas follow it again (min-replicas-to-write).'],
  [/\bLOADING\b/, 'It answers once it has loaded its data.'],
  [/\bMASTERDOWN\b/, FIND_PRIMARY],
  [/\bCLUSTERDOWN\b/, 'It takes writes when the cluster has a primary for these keys again.'],
  [/\bTRYAGAIN\b/, 'It takes writes when the cluster has moved these keys.'],
  [/^BUSY /, 'It takes writes when the script that it runs has ended.'],
]

const find = (reasons: [RegExp, string][], message: string) => reasons.find(([said]) => said.test(message))?.[1]

/** The remedy if the server definitely refused, and whether the reason is temporary; undefined for any other error. */
export function refusalOf(message: string) {
  const lasting = find(LASTING, message)
  const wayOut = lasting ?? find(PASSING, message)
  return wayOut === undefined ? undefined : { wayOut, passes: lasting === undefined }
}

/** Whether the server accepts no further connection at present, because all that it allows are in use. */
export const isCrowded = (message: string | undefined) => /max number of clients/.test(message ?? '')
