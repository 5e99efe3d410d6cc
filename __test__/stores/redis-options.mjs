// Every option of every supported Redis client, and its effect on the store. A row is a verdict and its reason.
//
// place: where we read and write. It is honoured, and the same for all members with the same value. refused: it would
// lead to other keys than those of the other members. reply: the form of replies; we read all of them. time: when a
// command is sent, resent or given up; a late or repeated swap finds another record and changes nothing. nothing: it
// changes neither.

const rows = (verdict, names) => Object.fromEntries(names.split(/\s+/).map((name) => [name, verdict]))

const IOREDIS = {
  ...rows('refused', 'keyPrefix'),
  ...rows('place', 'db host port path family familyFallback natMap name role sentinels preferredSlaves Connector'),
  ...rows('place', 'tls sentinelTLS enableTLSForSentinelMode username password sentinelUsername sentinelPassword'),
  ...rows('place', 'readOnly updateSentinels'), // a replica refuses our scripts
  ...rows('reply', 'stringNumbers protocol replyMapping showFriendlyErrorStack'),
  ...rows('time', 'retryStrategy commandTimeout blockingTimeout blockingTimeoutGrace socketTimeout connectTimeout'),
  ...rows('time', 'disconnectTimeout maxRetriesPerRequest maxLoadingRetryTime autoResendUnfulfilledCommands'),
  ...rows('time', 'reconnectOnError enableAutoPipelining autoPipeliningIgnoredCommands offlineQueue commandQueue'),
  ...rows('time', 'enableOfflineQueue enableReadyCheck lazyConnect sentinelRetryStrategy sentinelReconnectStrategy'),
  ...rows('time', 'sentinelCommandTimeout failoverDetector'),
  ...rows('nothing', 'keepAlive noDelay connectionName disableClientInfo clientInfoTag autoResubscribe monitor'),
  ...rows('nothing', 'scripts himportFieldsets sentinelMaxConnections'),
}

const IOREDIS_CLUSTER = {
  ...rows('refused', 'keyPrefix'),
  ...rows('place', 'redisOptions useSRVRecords resolveSrv dnsLookup natMap'),
  ...rows('place', 'scaleReads'), // scripts go to primaries
  ...rows('reply', 'showFriendlyErrorStack'),
  ...rows('time', 'clusterRetryStrategy enableOfflineQueue enableReadyCheck maxRedirections retryDelayOnFailover'),
  ...rows('time', 'retryDelayOnClusterDown retryDelayOnTryAgain retryDelayOnMoved slotsRefreshTimeout'),
  ...rows('time', 'slotsRefreshInterval clusterNodeRetryStrategy lazyConnect enableAutoPipelining'),
  ...rows('time', 'autoPipeliningIgnoredCommands'),
  ...rows('nothing', 'shardedSubscribers scripts himportFieldsets'),
}

const NODE_REDIS_COMMON = {
  ...rows('refused', 'keyPrefix'),
  ...rows('reply', 'RESP commandOptions'),
  ...rows('nothing', 'modules functions scripts'),
  ...rows('nothing', 'clientSideCache himportRegistry'), // no script is cached
}

const NODE_REDIS = {
  ...NODE_REDIS_COMMON,
  ...rows('place', 'url socket username password credentialsProvider database'),
  ...rows('place', 'readonly maintEndpointType'), // a replica refuses our scripts
  ...rows('time', 'commandsQueueMaxLength disableOfflineQueue pingInterval maintNotifications'),
  ...rows('time', 'maintRelaxedCommandTimeout maintRelaxedSocketTimeout'),
  ...rows('nothing', 'name disableClientInfo clientInfoTag emitInvalidate'),
}

const NODE_REDIS_POOL = {
  ...rows('time', 'minimum maximum acquireTimeout cleanupDelay'),
  ...rows('nothing', 'clientSideCache'),
}

const NODE_REDIS_SENTINEL = {
  ...NODE_REDIS_COMMON,
  ...rows('place', 'name sentinelRootNodes nodeClientOptions sentinelClientOptions nodeAddressMap'),
  ...rows('place', 'replicaPoolSize'), // scripts go to the primary
  ...rows('time', 'maxCommandRediscovers masterPoolSize scanInterval reserveClient'),
  ...rows('nothing', 'passthroughClientErrorEvents'),
}

const NODE_REDIS_CLUSTER = {
  ...NODE_REDIS_COMMON,
  ...rows('place', 'rootNodes defaults nodeAddressMap'),
  ...rows('place', 'useReplicas'), // scripts go to primaries
  ...rows('time', 'minimizeConnections maxCommandRedirections topologyRefreshOnReconnectionAttemptStrategy'),
}

const NODE_REDIS_COMMAND = {
  ...rows('reply', 'typeMapping'),
  ...rows('time', 'chainId asap abortSignal timeout slotNumber askRedirect'),
}

const NODE_REDIS_SOCKET = rows('time', 'connectTimeout reconnectStrategy socketTimeout')

const GLIDE = {
  ...rows('place', 'addresses databaseId useTLS credentials addressResolver nodeDiscoveryMode'),
  ...rows('place', 'readFrom clientAz readOnly'), // scripts go to primaries
  ...rows('reply', 'protocol defaultDecoder compression'), // scripts are not compressed
  ...rows('time', 'requestTimeout inflightRequestsLimit connectionBackoff lazyConnect clientCircuitBreaker'),
  ...rows('time', 'periodicChecks recoveryRequestsQueueSize advancedConfiguration'),
  ...rows('nothing', 'clientName libName clientInfoTag clientSideCache pubsubSubscriptions'),
}

const ofIoredis = (name) => {
  const built = `${name}/built`
  return [
    { file: `${built}/redis/RedisOptions.d.ts`, type: 'CommonRedisOptions', table: IOREDIS },
    { file: `${built}/connectors/SentinelConnector/index.d.ts`, type: 'SentinelConnectionOptions', table: IOREDIS },
    { file: `${built}/connectors/StandaloneConnector.d.ts`, type: 'StandaloneConnectionOptions', table: IOREDIS },
    { file: `${built}/utils/Commander.d.ts`, type: 'CommanderOptions', table: IOREDIS },
    { file: `${built}/cluster/ClusterOptions.d.ts`, type: 'ClusterOptions', table: IOREDIS_CLUSTER },
  ]
}

const REDIS = '@redis/client/dist/lib'
const BUILD = '@valkey/valkey-glide/build-ts'

/** Where each package lists its options: a type in a file of declarations, and the table that covers them. */
export const LISTS = {
  ioredis: ofIoredis('ioredis'),
  iovalkey: ofIoredis('iovalkey'),
  'node-redis': [
    { file: `${REDIS}/client/index.d.ts`, type: 'RedisClientOptions', table: NODE_REDIS },
    { file: `${REDIS}/client/pool.d.ts`, type: 'RedisPoolOptions', table: NODE_REDIS_POOL },
    { file: `${REDIS}/sentinel/types.d.ts`, type: 'RedisSentinelOptions', table: NODE_REDIS_SENTINEL },
    { file: `${REDIS}/sentinel/types.d.ts`, type: 'SentinelCommander', table: NODE_REDIS_SENTINEL },
    { file: `${REDIS}/cluster/index.d.ts`, type: 'RedisClusterOptions', table: NODE_REDIS_CLUSTER },
    { file: `${REDIS}/cluster/index.d.ts`, type: 'ClusterCommander', table: NODE_REDIS_CLUSTER },
    { file: `${REDIS}/client/commands-queue.d.ts`, type: 'CommandOptions', table: NODE_REDIS_COMMAND },
    { file: `${REDIS}/client/socket.d.ts`, type: 'RedisSocketOptionsCommon', table: NODE_REDIS_SOCKET },
    { file: `${REDIS}/RESP/types.d.ts`, type: 'CommanderConfig', table: NODE_REDIS_COMMON },
  ],
  glide: [
    { file: `${BUILD}/BaseClient.d.ts`, type: 'BaseClientConfiguration', table: GLIDE },
    { file: `${BUILD}/GlideClient.d.ts`, type: 'GlideClientConfiguration', table: GLIDE },
    { file: `${BUILD}/GlideClusterClient.d.ts`, type: 'GlideClusterClientConfiguration', table: GLIDE },
  ],
}

/** The names of the properties of a type in declarations, without those of its properties' types. */
export function namesOf(declarations, type) {
  const text = declarations.replaceAll(/\/\*[\s\S]*?\*\//g, '')
  const head = new RegExp(`(?:interface|type) ${type}\\b[\\s\\S]*?\\{`).exec(text)
  if (head === null) throw new Error(`no type ${type}`)
  let body = ''
  let depth = 1
  for (const character of text.slice(head.index + head[0].length)) {
    if ('})'.includes(character)) depth--
    if (depth === 0) break
    if (depth === 1) body += character
    if ('{('.includes(character)) depth++
  }
  return [...body.matchAll(/(?:^|[;\n])\s*(?:readonly )?(\w+)\??:/g)].map(([, name]) => name)
}
