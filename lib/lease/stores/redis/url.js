'use strict'

// Makes our own Redis client for a URL, with the client package that the user's project has. It must never load a
// package before it is needed: flakeforge depends on neither.

const { optionRangeError } = require('../../../base/errors')
const { loadClient } = require('../versions')
const { withoutPassword } = require('../without-password')
const { ANSWER_MS, ScriptRunner, ioredisCalls, nodeRedisCalls } = require('./client')
const { isRefusedSelect } = require('./database')

const FORM = 'like redis://[user:password@]host[:6379][/N], where N is the number of the database'

function openIoredis({ Redis }, url) {
  // After a failover the old connection may lead to a replica, which takes no writes: a new one finds the primary.
  const reconnectOnError = (error) => error.message.startsWith('READONLY')
  // A step that finds no server fails after about a second: its caller knows better when to try again. If a step gets
  // no answer, the connection may have died silently: it is given up, because a new one may work.
  const options = { lazyConnect: true, reconnectOnError, maxRetriesPerRequest: 5, socketTimeout: ANSWER_MS }
  const client = new Redis(url, options)
  // A lease does not keep a process alive; a step does, until its time limit.
  client.on('connect', () => client.stream.unref())
  client.on('reconnecting', () => client.reconnectTimeout?.unref())
  // Only a new connection selects the database again.
  const onFailure = (error) => {
    if (isRefusedSelect(error)) client.disconnect(true)
  }
  return new ScriptRunner(client, ioredisCalls(client), { close: () => client.disconnect(), onFailure })
}

function openNodeRedis({ createClient }, url) {
  const client = createClient({ url })
  client.unref() // a lease does not keep a process alive; a step does, until its time limit
  const calls = nodeRedisCalls(client)
  let connection
  let isClosed = false
  /** Connects at the first step; if that failed, at the next one. */
  async function connect() {
    connection ??= client.connect()
    try {
      await connection
    } catch (error) {
      connection = undefined
      throw error
    }
  }
  const evalSha = async (...args) => {
    if (!isClosed) await connect()
    return calls.evalSha(...args)
  }
  const end = () => (client.isOpen ? (client.destroy ?? client.disconnect).call(client) : undefined)
  // The connection may have died silently: the next step opens another. (socketTimeout would end an idle one.)
  const onFailure = (error) => {
    if (error.code !== 'ETIMEDOUT' || !client.isReady) return
    connection = undefined
    Promise.resolve(end()).catch(() => {})
  }
  const close = () => {
    isClosed = true
    return end()
  }
  return new ScriptRunner(client, { ...calls, evalSha }, { close, onFailure })
}

/**
 * If this is not a number, each package would use another database, or crash. Only ioredis knows `?db=` and
 * `?keyPrefix=`.
 */
function checkDatabase(url) {
  const { pathname, searchParams } = new URL(url)
  if (/^\/?\d*$/.test(pathname) && !searchParams.has('db') && !searchParams.has('keyPrefix')) return
  throw optionRangeError('store', withoutPassword(url), FORM)
}

const OPEN = { ioredis: openIoredis, redis: openNodeRedis }

/** Our own client for a URL, made with the project's package. It connects at the first step. */
function openClient(url) {
  checkDatabase(url)
  const { name, loaded } = loadClient('redis', Object.keys(OPEN))
  return OPEN[name](loaded, url)
}

module.exports = { openClient, openIoredis, openNodeRedis }
