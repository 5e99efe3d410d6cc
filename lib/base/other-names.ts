// What other packages call our options. A name such as `machineId` is no misspelling of ours, so the letters do not tell what was
// meant: this table does.

/** Numbers of a process, alone or with an ending such as Id. The names of node fields are among them. */
const NODE =
  /^(?:node|machine|instance|process|server|generator|cluster|shard|member|worker|datacent(?:er|re)|dc|region)(?:id|no|num|number)?$|^(?:host|m|p)id$/

/** Words without case or punctuation, by our name. */
const WORDS: Record<string, string> = {
  epoch: 'epochms epochstart epochtime customepoch twepoch starttime startepoch basetime offset timeoffset',
  seqMask: 'sequencemask maxsequence maxseq maxseqnumber',
  nodeOffset: 'nodeidoffset',
  maxAheadMs: 'allowedfuturemillis',
  prefetch: 'prefetchcount prefetchvaliditymillis',
  clock: 'now gettime timefunction timeprovider timesource',
  group: 'name namespace prefix keyprefix app service',
  slots: 'maxnodes maxworkers maxmachines capacity size',
  ttlMs: 'lease leasems leasetime leaseduration leasettl expiry expires',
  skewMs: 'clockskew maxclockskew drift clockdrift',
  waitMs: 'timeout timeoutms acquiretimeout',
  host: 'hostname instancename',
}

const NAMES = new Map(
  Object.entries(WORDS).flatMap(([ours, words]) => words.split(' ').map((word) => [word, ours] as const)),
)

/**
 * Our name of an option that another package calls `name`; undefined if none is known.
 * @param nodeNames the node fields of the layout; a number of a process is one of them, or `id`, the whole node number
 */
export function calledHere(name: string, nodeNames: readonly string[]): string | undefined {
  const word = name.toLowerCase().replace(/[^a-z]/g, '')
  if (/bits|bitlength/.test(word)) return 'layout'
  if (!NODE.test(word)) return NAMES.get(word)
  if (nodeNames.length < 2) return nodeNames[0]
  const field = word.replace(/centre/, 'center').replace(/(?:id|no|num|number)$/, '')
  return nodeNames.find((each) => each === field) ?? 'id'
}
