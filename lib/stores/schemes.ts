// The schemes of stores' addresses.

export type RedisScheme = { kind: 'server' | 'sentinel' | 'cluster'; isTls: boolean }

const REDIS_KINDS = { server: '', sentinel: '-sentinel', cluster: '-cluster' }
const REDIS_NAMES = { redis: false, rediss: true, valkey: false, valkeys: true }

/** What each scheme of Redis means. `rediss-sentinel` has its `s` before the kind, as in Lettuce. */
export const REDIS_SCHEMES = Object.fromEntries(
  Object.entries(REDIS_KINDS).flatMap(([kind, ending]) =>
    Object.entries(REDIS_NAMES).map(([name, isTls]) => [`${name}${ending}:`, { kind, isTls } as RedisScheme]),
  ),
)

/** The usual port of each kind of server. */
export const PORTS = { redis: 6379, postgres: 5432, mysql: 3306, etcd: 2379 }

/** The schemes of the stores on servers. */
export const SCHEMES = {
  redis: Object.keys(REDIS_SCHEMES),
  postgres: ['postgres:', 'postgresql:'],
  mysql: ['mysql:', 'mariadb:'],
  etcd: ['etcd:', 'etcds:'],
}
