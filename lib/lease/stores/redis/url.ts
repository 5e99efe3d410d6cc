// Makes our own Redis client for a URL, with the client package that the user's project has. flakeforge depends on neither
// package, so it is loaded on first use.

import { BUDGET } from '../../time-budget.ts'
import { addressError } from '../address.ts'
import { openWithPackage } from '../client-packages.ts'
import type { ClientError } from '../clients.ts'
import { ScriptRunner } from './client.ts'
import { type Ioredis, isOfReplica, type NodeRedis, ofIoredis, ofNodeRedis, type RunScript } from './packages.ts'

/** The further methods of our own client. */
interface OwnIoredis {
  stream: { unref(): void }
  reconnectTimeout?: { unref(): void }
  disconnect: (reconnect?: boolean) => void
}

/** The same for node-redis; only version 5 has `destroy`. */
interface OwnNodeRedis {
  isOpen: boolean
  isReady: boolean
  connect: () => Promise<unknown>
  disconnect: () => unknown
  destroy?: () => unknown
  unref: () => void
}

const FORM = '//[user:password@]host[:6379][/N], where N is the number of the database'

/** Whether a call had no answer in time, or its step ended before. */
const isLate = (error: unknown) =>
  (error as ClientError).code === 'ETIMEDOUT' || (error as ClientError).name === 'AbortError'

/** @param exports of ioredis or iovalkey */
export function openIoredis(
  { Redis }: { Redis: new (url: string, options: object) => Ioredis & OwnIoredis },
  url: string,
) {
  // A step without a server fails after a second attempt: its caller knows better when to retry. If a step gets no answer,
  // the connection may have died silently: it is given up, because a new one may work. disconnectTimeout is a timer that
  // keeps the process alive after close(), even without a connection. The ready check would silently keep commands while the
  // server loads its data; the server itself answers that it does.
  const options = {
    lazyConnect: true,
    maxRetriesPerRequest: 1,
    socketTimeout: BUDGET.ANSWER_MS,
    disconnectTimeout: 1,
    enableReadyCheck: false,
  }
  const client = new Redis(url, options)
  // A lease does not keep a process alive; a step does, until its time limit.
  client.on('connect', () => client.stream.unref())
  client.on('reconnecting', () => client.reconnectTimeout?.unref())
  // Only a new connection finds the primary, or works if this one died silently.
  const onFailure = (error: unknown) => {
    if (isLate(error) || isOfReplica(error)) client.disconnect(true)
  }
  return new ScriptRunner(client, ofIoredis(client), { close: () => client.disconnect(), onFailure })
}

/** @param exports of redis */
export function openNodeRedis(
  { createClient }: { createClient(options: object): NodeRedis & OwnNodeRedis },
  url: string,
) {
  // Without a connection a command makes one, or fails at once: the caller of a step knows better when to retry. A client
  // that retries on its own would keep the process alive.
  const reconnectStrategy = () => new Error('no connection')
  const client = createClient({ url, socket: { reconnectStrategy } })
  client.unref() // a lease does not keep a process alive; a step does, until its time limit
  const commands = ofNodeRedis(client)
  let isClosed = false
  const evalSha: RunScript = async (...args) => {
    if (!isClosed && !client.isOpen) await client.connect()
    return commands.evalSha(...args)
  }
  const end = () => (client.isOpen ? (client.destroy ?? client.disconnect).call(client) : undefined)
  // The connection may have died silently, or lead to a replica: the next step opens another. (socketTimeout would end an
  // idle one.)
  const onFailure = (error: unknown) => {
    if (client.isReady && (isLate(error) || isOfReplica(error))) Promise.resolve(end()).catch(() => {})
  }
  const close = () => {
    isClosed = true
    return end()
  }
  const database = new URL(url).pathname.slice(1) || '0'
  return new ScriptRunner(client, { ...commands, evalSha, database }, { close, onFailure })
}

/**
 * If this is not a number, each package would use another database, or crash. Only ioredis and iovalkey support `?db=` and
 * `?keyPrefix=`.
 */
function checkDatabase(url: string) {
  const { pathname, protocol, searchParams } = new URL(url)
  if (/^\/?\d*$/.test(pathname) && !searchParams.has('db') && !searchParams.has('keyPrefix')) return
  throw addressError(url, `like ${protocol}${FORM}`)
}

const OPEN = { ioredis: openIoredis, iovalkey: openIoredis, redis: openNodeRedis }

/** `valkey:` is another name for `redis:`, which only iovalkey knows. */
const asRedis = (url: string) => url.replace(/^valkey/i, 'redis')

export function openClient(url: string) {
  checkDatabase(url)
  return openWithPackage(url.slice(0, url.indexOf(':')).toLowerCase(), OPEN, asRedis(url))
}
